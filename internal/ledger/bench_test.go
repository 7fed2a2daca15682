// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package ledger

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/plan"
)

// second is one second of a leader whose gateways report each second, 10 ms of them at a time.
type second struct {
	*Ledger
	now     time.Time
	routes  []Route
	holders []*pool.Holder
	names   []string
	of      []Route
	changed []Recipient
	at      map[Recipient]int
}

// newSecond has n gateways, spread over so many namespaces, that share an account or have policies of their own.
func newSecond(n, namespaces int, account string) *second {
	s := &second{Ledger: New(Options{}), now: start, at: map[Recipient]int{}}
	limits := []plan.Limit{tokens("input", int64(n)*60_000, int64(n)*60_000), requests("requests", int64(n)*600, int64(n)*600)}
	if account != "" {
		a := Account{Name: account, MaxGateways: int32(n), Limits: limits}
		for i := range min(namespaces/2, 20) {
			a.Tenants = append(a.Tenants, Tenant{Namespace: fmt.Sprint("ns", i), GuaranteedPercent: 4, BorrowingLimitPercent: of(int32(50))})
		}
		s.SetAccounts([]Account{a}, s.now)
	}
	for i := range namespaces {
		r := plan.Route{Name: "openai", Account: account, Lanes: lanes(400, 600), Limits: limits}
		if account != "" {
			r.Limits = nil
			for _, l := range limits {
				l.Name, l.Account = account+":"+l.Name, account
				r.Limits = append(r.Limits, l)
			}
		}
		ns := fmt.Sprint("ns", i)
		s.SetPlan(ns, &plan.Plan{Policies: []plan.Policy{{Name: "chat", MaxGateways: int32(n), Routes: []plan.Route{r}}}}, s.now)
		s.routes = append(s.routes, Route{ns, "chat", "openai"})
	}
	s.Lead(Leadership{Epoch: 1, First: true}, s.now)
	for i := range n {
		r := s.routes[i%namespaces]
		name := fmt.Sprint("gateway-", i)
		s.Expect(r, name, s.now)
		cfg := pool.HolderConfig{Name: name, Incarnation: uint64(i + 1), Fresh: true}
		for _, l := range s.Ledger.routes[r].plan.Limits {
			cfg.Budgets = append(cfg.Budgets, Holder(l, int32(n)))
		}
		s.at[Recipient{r, name, uint64(i + 1)}] = i
		s.holders, s.names, s.of = append(s.holders, pool.NewHolder(cfg, s.now)), append(s.names, name), append(s.of, r)
	}
	return s
}

// cpu is what the process has used, the collector included: other processes do not count, as they do in the time that passes.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// pass lets a second pass and returns the CPU time that the ledger took, gateways and network left out.
func (s *second) pass(b *testing.B) time.Duration {
	b.Helper()
	var took time.Duration
	n := len(s.holders)
	for batch := range 100 {
		s.now = s.now.Add(10 * time.Millisecond)
		reports := make([]pool.Report, 0, n/100+1)
		from, to := batch*n/100, (batch+1)*n/100
		for i := from; i < to; i++ {
			h := s.holders[i]
			var small []pool.Amount
			for _, l := range s.Ledger.routes[s.of[i]].plan.Limits {
				units := 2000.0
				if l.Budget == plan.Requests {
					units = 20
				}
				h.Charge(l.Name, min(units/2, max(0, h.Balance(l.Name, s.now))), s.now)
				small = append(small, pool.Amount{Budget: l.Name, Units: units})
			}
			reports = append(reports, h.Report([]pool.Demand{{Lane: plan.DefaultLane, Small: small}}, s.now))
		}
		began := cpu(b)
		for i := range reports {
			if err := s.Report(s.of[from+i], &reports[i], s.now); err != nil {
				b.Fatal(err)
			}
		}
		s.Advance(s.now)
		if s.Stale() {
			s.Published(s.State(s.now))
		}
		s.changed = s.Changed(s.changed[:0])
		grants := make([]pool.Grant, len(s.changed))
		for i, to := range s.changed {
			grants[i], _ = s.Grant(to, s.now)
		}
		took += cpu(b) - began
		for i, to := range s.changed {
			s.holders[s.at[to]].Receive(&grants[i], s.now)
		}
	}
	return took
}

func benchmarkSecond(b *testing.B, n, namespaces int, account string) {
	b.Helper()
	s := newSecond(n, namespaces, account)
	for range 3 {
		s.pass(b)
	}
	var took time.Duration
	var figures time.Duration
	b.ResetTimer()
	for range b.N {
		took += s.pass(b)
		began := cpu(b)
		s.Figures(s.now)
		figures += cpu(b) - began
	}
	b.ReportMetric(float64(took.Milliseconds())/float64(b.N), "ms-cpu/s")
	b.ReportMetric(float64(took.Microseconds())/float64(b.N*n), "µs/report")
	b.ReportMetric(float64(figures.Microseconds())/1000/float64(b.N), "ms/figures")
}

// What a leader's second costs when each gateway reports once in it.
func BenchmarkSecond(b *testing.B) {
	for _, n := range []int{1000, 5000, 50_000} {
		for name, of := range map[string]struct {
			namespaces int
			account    string
		}{
			"one account of 10 namespaces":  {10, "acct"},
			"one account of 200 namespaces": {200, "acct"},
			"one policy":                    {1, ""},
			"500 policies":                  {500, ""},
		} {
			if n > 16_000 && of.namespaces < 500 {
				continue // a pool has at most 16,384 holders, and the ledger would turn the rest away
			}
			b.Run(fmt.Sprint(n, " gateways, ", name), func(b *testing.B) { benchmarkSecond(b, n, of.namespaces, of.account) })
		}
	}
}
