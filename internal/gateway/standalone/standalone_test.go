// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package standalone

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/budgetstore"
	"github.com/headgate-dev/headgate/internal/gateway/proxy"
	"github.com/headgate-dev/headgate/internal/ledger"
	"github.com/headgate-dev/headgate/internal/plan"
)

// limit is a hundred a second, and a burst of ten seconds.
var limit = plan.Limit{Name: "tokens", Budget: plan.Requests, Amount: 6000, WindowSeconds: 60, Burst: 1000}

func planned() *plan.Plan {
	return &plan.Plan{Namespace: "ns", Policies: []plan.Policy{{Name: "p", MaxGateways: 10, Routes: []plan.Route{{
		Name: "anthropic", Lanes: []plan.Lane{{Name: "default", SharePermille: 1000}}, Limits: []plan.Limit{limit},
	}}}}}
}

// gateway is one route that spends all it gets, and wants more.
type gateway struct {
	mu     sync.Mutex
	holder *pool.Holder
	spent  float64
	next   time.Time
	asked  chan struct{}
}

func newGateway() *gateway {
	return &gateway{asked: make(chan struct{}, 1), holder: pool.NewHolder(pool.HolderConfig{
		Name: holder, Incarnation: 1, Fresh: true, Budgets: []pool.HolderBudget{ledger.Holder(limit, 10)},
	}, time.Now())}
}

func (g *gateway) spend(now time.Time) {
	if some := g.holder.Balance("tokens", now); some > 0 {
		if _, ok := g.holder.Take([]pool.Amount{{Budget: "tokens", Units: some}}, now); ok {
			g.spent += some
		}
	}
}

func (g *gateway) Draws(all bool, now time.Time) []proxy.Draw {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.spend(now)
	if !all && now.Before(g.next) {
		return nil
	}
	g.next = now.Add(100 * time.Millisecond)
	r := g.holder.Report([]pool.Demand{{Lane: "default", Small: []pool.Amount{{Budget: "tokens", Units: 200}}}}, now)
	return []proxy.Draw{{Policy: "p", Provider: "anthropic", Report: r}}
}

func (g *gateway) NextDraw(time.Time) (time.Time, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.next, true
}

func (g *gateway) Hastened() <-chan struct{} { return g.asked }

func (g *gateway) Receive(_, _ string, grant *pool.Grant, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	grant.Holder = holder
	g.holder.Receive(grant, now)
}

func (g *gateway) Drain(now time.Time) []proxy.Draw {
	g.mu.Lock()
	defer g.mu.Unlock()
	return []proxy.Draw{{Policy: "p", Provider: "anthropic", Report: g.holder.Drain(now)}}
}

func (g *gateway) total() float64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.spent
}

// store grants at a rate what is wanted, or nothing.
type store struct {
	mu      sync.Mutex
	rate    float64
	level   float64
	granted float64
	at      time.Time
	down    bool
	last    budgetstore.Request
	version uint64
}

func (s *store) Close() error { return nil }

func (s *store) Draw(_ context.Context, requests []*budgetstore.Request) []budgetstore.Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		return []budgetstore.Result{{Err: errors.New("down")}}
	}
	now, r := time.Now(), requests[0]
	s.level += s.rate * now.Sub(s.at).Seconds()
	s.at, s.last = now, *r
	s.version++
	if more := min(s.level, r.Lines[0].Want-s.granted); more > 0 && r.Instance != "" {
		s.granted += more
		s.level -= more
	}
	return []budgetstore.Result{{Answer: &budgetstore.Answer{
		Instance: "i", Version: s.version, Stamp: 1, Drawers: 1, Lines: []budgetstore.Granted{{Total: s.granted, Share: 50, Fair: s.rate}},
	}}}
}

func (s *store) set(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
}

// run runs a gateway on a store for as long as do lasts, and then has it end.
func run(t *testing.T, s *store, do func(g *gateway, r *Runner)) *gateway {
	t.Helper()
	g, p := newGateway(), planned()
	s.at = time.Now()
	r := New(Options{Gateway: g, Plan: func() *plan.Plan { return p }, Store: s, Name: "gateway/a"})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); r.Run(ctx) }()
	do(g, r)
	cancel()
	<-ended
	return g
}

// TestWhatIsGrantedCameFromTheStore, all that it gives is used, and at the end nothing is kept.
func TestWhatIsGrantedCameFromTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &store{rate: 40}
		g := run(t, s, func(*gateway, *Runner) { time.Sleep(30 * time.Second) })
		// Before the store is heard for the first time there is the safe share: five a second.
		if spent := g.total(); spent > s.granted+25 || spent < 0.9*30*40 {
			t.Errorf("%v were spent, the store gave %v in 30 seconds of 40", spent, s.granted)
		}
		l := s.last.Lines[0]
		if !s.last.Leaving || l.Got+l.Raised-l.Spent-l.Returned > 1e-6 {
			t.Errorf("at the end: leaving is %v, %+v", s.last.Leaving, l)
		}
	})
}

// TestWithoutTheStoreThereIsTheShare that it left, 50 a second, from when it was lost for sure until it is back.
func TestWithoutTheStoreThereIsTheShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &store{rate: 80}
		run(t, s, func(g *gateway, r *Runner) {
			time.Sleep(10 * time.Second)
			s.set(true)
			time.Sleep(2 * budgetstore.Life)
			if _, lost := r.Loop().Lost(); !lost {
				t.Error("the store is not lost")
			}
			before := g.total()
			time.Sleep(20 * time.Second)
			if had := (g.total() - before) / 20; had < 40 || had > 55 {
				t.Errorf("%v a second without the store, the share is 50", had)
			}
			s.set(false)
			time.Sleep(5 * time.Second)
			before = g.total()
			time.Sleep(20 * time.Second)
			if _, lost := r.Loop().Lost(); lost {
				t.Error("the store is back, and lost all the same")
			}
			if had := (g.total() - before) / 20; had < 70 || had > 130 {
				t.Errorf("%v a second with the store back, which gives 80", had)
			}
		})
	})
}

// TestAccountsAreWhatThePlanHasOfThem: the gateway knows no others.
func TestAccountsAreWhatThePlanHasOfThem(t *testing.T) {
	p := planned()
	r := &p.Policies[0].Routes[0]
	r.Account, r.Outage = "main", plan.LastGrant
	r.Limits = append(r.Limits, plan.Limit{
		Name: "main:calls", Account: "main", Budget: plan.Requests, Amount: 60, WindowSeconds: 60, Burst: 10, MaxGateways: 7,
	})
	p.Policies[0].Routes = append(p.Policies[0].Routes, *r)
	got := accounts(p)
	if len(got) != 1 || got[0].Name != "main" || got[0].MaxGateways != 7 || got[0].Outage != plan.LastGrant ||
		len(got[0].Limits) != 1 || got[0].Limits[0].Name != "calls" {
		t.Errorf("%+v", got)
	}
}
