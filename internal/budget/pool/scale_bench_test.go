// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

// crowd is a pool of an account, four budgets that all use, and of policies with budgets and lanes of their own, with
// holders that each use the account's and one policy's.
type crowd struct {
	cfg  Config
	uses []Use
}

func newCrowd(budgets, holders int) *crowd {
	c := &crowd{cfg: Config{MaxHolders: holders}}
	account := []string{"requests", "input", "output", "tokens"}
	for _, name := range account {
		c.cfg.Budgets = append(c.cfg.Budgets, Budget{Name: name, Rate: 1e6, Capacity: 6e7, SmallCall: 2000, Window: time.Minute})
	}
	policies := (budgets - len(account)) / 4
	for i := range policies {
		tenant := fmt.Sprint("t", i)
		u := Use{Budgets: append([]string(nil), account...)}
		var shares []LaneShare
		for _, l := range []string{"chat", "batch"} {
			name := tenant + "/" + l
			c.cfg.Lanes = append(c.cfg.Lanes, budget.Lane{Name: name, Group: tenant, Share: 0.4 / float64(policies)})
			u.Lanes = append(u.Lanes, name)
			shares = append(shares, LaneShare{name, 0.5})
		}
		for _, name := range account {
			own := tenant + ":" + name
			c.cfg.Budgets = append(c.cfg.Budgets, Budget{
				Name: own, Rate: 1e6, Capacity: 6e7, SmallCall: 2000, Window: time.Minute, Lanes: shares,
			})
			u.Budgets = append(u.Budgets, own)
		}
		c.cfg.Shadows = append(c.cfg.Shadows, Shadow{
			Name: tenant + "+tokens", Of: "tokens", Lanes: u.Lanes, Rate: 5e5, Capacity: 3e7,
		})
		c.cfg.Groups = append(c.cfg.Groups, budget.Group{Name: tenant, Weight: 1})
		c.uses = append(c.uses, u)
	}
	return c
}

// reporter is a holder that spends all it gets and asks for more.
type reporter struct {
	r     Report
	use   *Use
	grant Grant
}

func (r *reporter) next() *Report {
	r.r.Sequence++
	r.r.Term, r.r.Stamp, r.r.Lease = r.grant.Term, r.grant.Stamp, 10*time.Second
	r.r.Counts, r.r.Wants = r.r.Counts[:0], r.r.Wants[:0]
	for _, t := range r.grant.Totals {
		r.r.Counts = append(r.r.Counts, Count{Budget: t.Budget, Spent: t.Units})
	}
	want := Want{Lane: r.use.Lanes[0]}
	for _, b := range r.use.Budgets {
		total := 0.0
		for i := range r.grant.Lanes {
			if r.grant.Lanes[i].Lane == want.Lane {
				total = units(r.grant.Lanes[i].Units, b)
			}
		}
		want.Units = append(want.Units, Amount{b, total + 4000})
	}
	r.r.Wants = append(r.r.Wants, want)
	return &r.r
}

// What a report costs goes with what its holder uses, not with the pool. An operation is one report of one holder with its
// part of the grants of its tick and its answer; all report once a second, in ticks of 10 ms.
func BenchmarkReports(b *testing.B) {
	for _, budgets := range []int{8, 300} {
		for _, holders := range []int{1000, 5000} {
			b.Run(fmt.Sprintf("budgets=%d/holders=%d", budgets, holders), func(b *testing.B) { benchmarkReports(b, budgets, holders) })
		}
	}
}

func benchmarkReports(b *testing.B, budgets, holders int) {
	b.Helper()
	c, now := newCrowd(budgets, holders), origin
	before := heapNow()
	p := New(c.cfg, Leader{Epoch: 1, First: true}, now)
	empty := heapNow() - before
	all := make([]*reporter, holders)
	for i := range all {
		use := &c.uses[i%len(c.uses)]
		all[i] = &reporter{use: use, r: Report{Holder: fmt.Sprint("h", i), Incarnation: 1}}
		p.Join(all[i].r.Holder, *use, now)
	}
	tick := func(part []*reporter) {
		for _, h := range part {
			if err := p.Report(h.next(), now); err != nil {
				b.Fatal(err)
			}
		}
		p.Advance(now)
		for _, h := range part {
			h.grant, _ = p.Grant(Key{h.r.Holder, 1}, now)
		}
		p.Changed(nil)
		now = now.Add(10 * time.Millisecond)
	}
	for i := range 300 {
		tick(all[i%100*holders/100 : (i%100+1)*holders/100])
	}
	b.ResetTimer()
	for i, n := 0, 0; n < b.N; i++ {
		part := all[i%100*holders/100 : (i%100+1)*holders/100]
		tick(part)
		n += len(part)
	}
	b.StopTimer()
	for _, h := range all {
		h.grant, h.r = Grant{}, Report{}
	}
	b.ReportMetric((heapNow()-before-empty)/float64(holders), "B/holder")
	b.ReportMetric(empty, "B/pool")
	runtime.KeepAlive(p)
}

func heapNow() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
