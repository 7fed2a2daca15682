// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/budget/pool"
	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/ledger"
	"github.com/headgate-dev/headgate/internal/plan"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pair is a member with its own timers, and a pool that answers it every 10 ms while it is connected.
type pair struct {
	*Member
	pool *pool.Pool
	mu   sync.Mutex
	cut  bool
	last pool.Report
}

func newPair(t *testing.T, route plan.Route, most int32, fresh bool) *pair {
	t.Helper()
	p := &pair{pool: pool.New(poolOf(route, most), pool.Leader{Epoch: 1, First: true}, time.Now()), cut: true}
	p.Member = New(Options{
		Facts: facts.Facts{Charges: facts.AsProduced}, Holder: "g", Incarnation: 1, Fresh: fresh,
	}, route, most, time.Now())
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { p.serve(ctx) })
	t.Cleanup(func() { cancel(); done.Wait(); p.Close() })
	return p
}

func poolOf(route plan.Route, most int32) pool.Config {
	cfg := pool.Config{MaxHolders: int(most)}
	for _, l := range route.Limits {
		cfg.Budgets = append(cfg.Budgets, ledger.Budget(l, most))
	}
	for _, l := range route.Lanes {
		cfg.Lanes = append(cfg.Lanes, ledger.Lane(l))
	}
	return cfg
}

// edit has the pool and the member take over an edited route.
func (p *pair) edit(t *testing.T, route plan.Route, most int32) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.pool.Apply(poolOf(route, most), time.Now()) {
		t.Fatal("the pool does not take over the route")
	}
	p.Configure(route, most, time.Now())
}

func (p *pair) serve(ctx context.Context) {
	for ctx.Err() == nil {
		p.exchange()
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (p *pair) exchange() {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if p.cut || p.Due(now).After(now) {
		return
	}
	p.last = p.Draw(now)
	if p.pool.Report(&p.last, now) != nil {
		return
	}
	p.pool.Advance(now)
	if g, ok := p.pool.Grant(pool.Key{Holder: "g", Incarnation: 1}, now); ok {
		p.Receive(&g, now)
	}
}

// connect has the pool answer from now on, or not.
func (p *pair) connect(yes bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = !yes
}

func ticket(tokens float64, lane int, patience time.Duration) *admission.Ticket {
	now := time.Now()
	return &admission.Ticket{
		Account: admission.Account{Fingerprint: 1, Model: "m"}, Metered: true, Lane: lane, Arrival: now, Deadline: now.Add(patience),
		Estimate: admission.Estimate{Input: tokens, InputAtLeast: tokens}, Bytes: 10,
	}
}

// full returns a pair that is connected, whose pool has gathered all it may.
func full(t *testing.T, route plan.Route) *pair {
	t.Helper()
	p := newPair(t, route, 5, true)
	p.connect(true)
	time.Sleep(30 * time.Second)
	return p
}

func (p *pair) wait(t *testing.T, k *admission.Ticket) (admission.Verdict, time.Duration) {
	t.Helper()
	since := time.Now()
	v, err := p.Wait(t.Context(), k)
	if err != nil {
		t.Error(err)
	}
	return v, time.Since(since)
}

// atRest fails if anything is kept of calls that have ended.
func (p *pair) atRest(t *testing.T) {
	t.Helper()
	p.Member.mu.Lock() // what the pool's answers do is done by another goroutine
	defer p.Member.mu.Unlock()
	if p.waiting != 0 || p.apart != 0 || p.bytes != 0 || p.places.n != 0 {
		t.Errorf("%d wait, %d aside with %d bytes, %d places", p.waiting, p.apart, p.bytes, p.places.n)
	}
}

func TestALargeCallIsGrantedAsAWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := full(t, shared(""))
		k := ticket(8000, 0, time.Minute)
		if v := p.Enter(k, time.Now()); v.State != budget.Queued || p.Verdict(k).State != budget.Queued {
			t.Fatalf("%+v, %+v", v, p.Verdict(k))
		}
		if v, took := p.wait(t, k); v.State != budget.Admitted || took > 200*time.Millisecond {
			t.Errorf("%+v after %v: the pool is full", v, took)
		}
		p.Release(k, admission.Settlement{Kind: admission.Billed, Usage: usage(8000)})
		p.Release(k, admission.Settlement{})
		p.atRest(t)
		// Three more, of which the third has to be gathered: 19,000 − 8,000 and what came since are there.
		var last time.Duration
		for range 3 {
			k := ticket(8000, 0, time.Minute)
			p.Enter(k, time.Now())
			v, took := p.wait(t, k)
			if v.State != budget.Admitted {
				t.Fatalf("%+v", v)
			}
			p.Release(k, admission.Settlement{Kind: admission.Kept})
			last = took
		}
		if last < 6*time.Second || last > 9*time.Second {
			t.Errorf("the last went after %v of refill", last)
		}
		p.atRest(t)
	})
}

func TestWhoLeavesWhileAsideLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, shared(""), 5, true)
		p.connect(true)
		time.Sleep(time.Second)
		k := ticket(15_000, 0, 2*time.Minute)
		if v := p.Enter(k, time.Now()); v.State != budget.Queued {
			t.Fatalf("%+v", v)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if v, err := p.Wait(ctx, k); v.State != budget.Cancelled || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%+v, %v", v, err)
		}
		p.atRest(t)
		other := ticket(15_000, 0, 2*time.Minute)
		p.Enter(other, time.Now())
		p.Release(other, admission.Settlement{Kind: admission.NotSent})
		p.atRest(t)
		time.Sleep(time.Minute)
		p.mu.Lock()
		held := p.pool.Held(pool.Key{Holder: "g", Incarnation: 1}, "itpm", time.Now())
		p.mu.Unlock()
		if held > 100 {
			t.Errorf("%v is kept of what nobody needs", held)
		}
		if offered := p.Figures(time.Now()).Limits[1].Offered; offered != 30_000 {
			t.Errorf("offered %v: who left asked for it", offered)
		}
	})
}

// A call that is not granted in time is told when its time is up, and no later.
func TestWhoIsNotGrantedIsToldInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, shared(""), 5, true)
		p.connect(true)
		time.Sleep(time.Second)
		first, second := ticket(15_000, 0, 40*time.Second), ticket(15_000, 0, 2*time.Minute)
		for _, k := range []*admission.Ticket{first, second} {
			if v := p.Enter(k, time.Now()); v.State != budget.Queued {
				t.Fatalf("%+v", v)
			}
		}
		p.connect(false)
		since := time.Now()
		v, _ := p.wait(t, first)
		if took := time.Since(since); v.State != budget.Refused || v.Reason != budget.ReasonQueueExpired || v.Limit != "itpm" || took < 40*time.Second || took > 40*time.Second+time.Millisecond {
			t.Errorf("%+v after %v", v, took)
		}
		if want := "60k/min, safe share 6k/min: no coordinator"; v.Amount != want {
			t.Errorf("described as %q, want %q", v.Amount, want)
		}
		if again := p.Verdict(first); again != v {
			t.Errorf("asked again it is %+v", again)
		}
		p.Release(first, admission.Settlement{Kind: admission.NotSent})
		p.connect(true)
		if v, _ := p.wait(t, second); v.State != budget.Admitted {
			t.Errorf("the other: %+v", v)
		}
		p.Release(second, admission.Settlement{Kind: admission.NotSent})
		p.atRest(t)
	})
}

// What a draw gives back cannot be spent any longer.
func TestWhatIsGivenBackIsNotThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := full(t, shared(""))
		for range 20 {
			k := ticket(900, 1, time.Second)
			if v := p.Enter(k, time.Now()); v.State == budget.Admitted {
				p.Release(k, admission.Settlement{Kind: admission.Kept})
			} else {
				p.Release(k, admission.Settlement{Kind: admission.NotSent})
			}
			time.Sleep(200 * time.Millisecond)
		}
		returned := func() float64 {
			p.mu.Lock()
			defer p.mu.Unlock()
			return p.last.Counts[1].Returned
		}
		before := returned()
		for range 60 {
			time.Sleep(100 * time.Millisecond)
			p.mu.Lock()
			if level, balance := p.gate.Balance("itpm", time.Now()), p.holder.Balance("itpm", p.at); level > balance+1e-6 {
				t.Errorf("the gate has %v, and the holder %v", level, balance)
			}
			p.mu.Unlock()
		}
		if returned() <= before {
			t.Error("nothing was given back")
		}
	})
}

// A retry keeps its floor, aside and at the gate.
func TestARetryOfALargeCallWaitsForItsFloor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := full(t, shared(""))
		k := ticket(8000, 0, time.Minute)
		p.Enter(k, time.Now())
		p.wait(t, k)
		p.Release(k, admission.Settlement{Kind: admission.Rejected})
		refused := time.Now()
		if v := p.Retry(k, refused.Add(9*time.Second), refused); v.State != budget.Queued {
			t.Fatalf("%+v", v)
		}
		if v, took := p.wait(t, k); v.State != budget.Admitted || took < 9*time.Second || took > 9200*time.Millisecond {
			t.Errorf("%+v after %v", v, took)
		}
		p.Release(k, admission.Settlement{Kind: admission.Kept})
		p.atRest(t)
	})
}
