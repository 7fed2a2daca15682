// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
)

func seen(r pool.Report, limit string) float64 {
	for _, s := range r.Seen {
		if s.Budget == limit {
			return s.Units
		}
	}
	return -1
}

// What responses and refusals say of the provider's level goes to the pool, once, and grown by what time brought.
func TestWhatIsSeenGoesToThePool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := New(Options{Fresh: true}, shared(""), 5, time.Now())
		defer m.Close()
		k := ticket(500, 1, time.Minute)
		k.Sent = time.Now()
		time.Sleep(time.Second)
		m.Observe(k, &dialect.Reading{Budgets: []dialect.BudgetReading{
			{Budget: plan.InputTokens, Limit: 60_000, Remaining: 9000, RoundedTo: 1000}, {Budget: plan.Requests, Remaining: -1}, {Budget: plan.InputTokens, Bucket: "other", Remaining: 1},
		}}, time.Now())
		time.Sleep(time.Second)
		// 9,000 and at most 1,000 that were rounded off when it was sent two seconds ago, 1,000 a second.
		if got := seen(m.Draw(time.Now()), "itpm"); got != 12_000 {
			t.Errorf("seen %v", got)
		}
		if got := seen(m.Draw(time.Now()), "itpm"); got != -1 {
			t.Errorf("told again: %v", got)
		}
		// 20,000 that are told to wait for 9 seconds: 11,000 are there.
		big := ticket(20_000, 0, time.Minute)
		m.Refused(big, &dialect.Reading{}, plan.InputTokens, 9*time.Second, true, time.Now())
		r := m.Draw(time.Now())
		if got := seen(r, "itpm"); got != 11_000 {
			t.Errorf("after a refusal %v are seen", got)
		}
		if got := seen(r, "rpm"); got != -1 {
			t.Errorf("the refusal named tokens, and %v requests are seen", got)
		}
		m.Refused(big, &dialect.Reading{}, "", 0, false, time.Now())
		r = m.Draw(time.Now())
		if tokens, requests := seen(r, "itpm"), seen(r, "rpm"); tokens != 20_000 || requests != 1 {
			t.Errorf("a refusal without guidance: %v tokens, %v requests", tokens, requests)
		}
	})
}

// Of an account's limit and the policy's own of the same kind, what the provider says is about the account's.
func TestWhatIsSeenIsOfTheAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		route := shared("")
		route.Limits = append(route.Limits, plan.Limit{Name: "acme:itpm", Account: "acme", Budget: plan.InputTokens, Amount: 600_000, WindowSeconds: 60, Burst: 600_000})
		m := New(Options{Fresh: true}, route, 5, time.Now())
		defer m.Close()
		k := ticket(500, 1, time.Minute)
		k.Sent = time.Now()
		m.Observe(k, &dialect.Reading{Budgets: []dialect.BudgetReading{{Budget: plan.InputTokens, Remaining: 9000}}}, time.Now())
		r := m.Draw(time.Now())
		if account, own := seen(r, "acme:itpm"), seen(r, "itpm"); account != 9001 || own != -1 {
			t.Errorf("of the account %v, of the policy %v", account, own)
		}
	})
}

// An hour's allowance is not waited for as a rate is: what is left of it is granted at once, and when nothing is, calls are
// told so at once.
func TestCapsAreGrantedAtOnceAndRefuse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		route := shared("")
		route.Limits = []plan.Limit{{Name: "tph", Budget: plan.InputTokens, Amount: 36_000, WindowSeconds: 3600, Burst: 36_000}}
		p := newPair(t, route, 5, true)
		p.connect(true)
		// 10 a second: after 33 minutes 20,000 are there.
		time.Sleep(2000 * time.Second)
		went := 0.0
		for range 40 {
			k := ticket(1500, 1, 20*time.Second)
			v := p.Enter(k, time.Now())
			if v.State == budget.Queued {
				v, _ = p.wait(t, k)
			}
			if v.State == budget.Admitted {
				went += 1500
			}
			p.Release(k, admission.Settlement{Kind: admission.Kept})
		}
		// Its lane has six tenths of that, the rest is kept for the other.
		if went < 10_500 || went > 12_000 {
			t.Errorf("%v of about 12,000 went", went)
		}
		time.Sleep(2 * time.Second)
		k := ticket(1500, 1, 20*time.Second)
		if v := p.Enter(k, time.Now()); v.State != budget.Refused || v.Reason != budget.ReasonCapReached {
			t.Errorf("with nothing left: %+v", v)
		}
		large := ticket(5000, 1, 20*time.Second)
		v := p.Enter(large, time.Now())
		if v.State == budget.Queued {
			var took time.Duration
			if v, took = p.wait(t, large); took > 3*time.Second {
				t.Errorf("a large one was told after %v", took)
			}
		}
		if v.State != budget.Refused || v.Reason != budget.ReasonCapReached {
			t.Errorf("a large one: %+v", v)
		}
	})
}

// Observe delays nothing, and charges when calls would have gone, aside as well.
func TestShadowsAreChargedWhenTheyWouldHaveGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := full(t, shared(""))
		for i := range 4 {
			k := ticket(8000, 0, time.Minute)
			k.Shadow = true
			if v := p.Enter(k, time.Now()); v.State == budget.Refused {
				t.Fatalf("call %d: %+v", i, v)
			}
			p.Release(k, admission.Settlement{Kind: admission.Billed, Usage: usage(8000)})
		}
		time.Sleep(time.Minute)
		p.atRest(t)
		l := p.Figures(time.Now()).Limits[1]
		if l.Spent != 32_000 || l.Offered != 32_000 {
			t.Errorf("spent %v, offered %v", l.Spent, l.Offered)
		}
	})
}

// What waits aside is bounded as a gate's queue is.
func TestWhatWaitsAsideIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		route := shared("")
		route.Lanes[0].MaxDepth, route.Lanes[0].MaxBytes = 5, 45
		p := newPair(t, route, 5, true)
		var reasons []budget.Reason
		for range 6 {
			k := ticket(8000, 0, 0)
			k.Deadline = time.Time{}
			k.Arrival = time.Now().Add(time.Hour)
			reasons = append(reasons, p.Enter(k, time.Now()).Reason)
		}
		if n := len(slices.DeleteFunc(slices.Clone(reasons), func(r budget.Reason) bool { return r != budget.ReasonQueueFull })); n != 2 || p.apart != 4 {
			t.Errorf("%v, %d wait: 4 of 10 bytes fit into 45", reasons, p.apart)
		}
		too := ticket(30_000, 0, time.Minute)
		if v := p.Enter(too, time.Now()); v.Reason != budget.ReasonTooLarge {
			t.Errorf("above the burst: %+v", v)
		}
		for range 3 * maxFree {
			k := ticket(10, 1, time.Second)
			p.Enter(k, time.Now())
			p.Release(k, admission.Settlement{Kind: admission.NotSent})
		}
		if n := len(p.places.free); n > maxFree {
			t.Errorf("%d free places are kept", n)
		}
	})
}

// Edits keep what waits, in its lane by name; what a smaller limit makes impossible is told at once.
func TestEditsKeepWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, shared(""), 5, true)
		p.connect(true)
		time.Sleep(time.Second)
		calls := []*admission.Ticket{ticket(15_000, 0, 100*time.Second), ticket(6000, 0, 100*time.Second), ticket(900, 1, 50*time.Second)}
		for _, k := range calls {
			if v := p.Enter(k, time.Now()); v.State == budget.Refused {
				t.Fatalf("%+v", v)
			}
		}
		route := shared("")
		route.Lanes = route.Lanes[1:]
		route.Lanes[0].SharePermille = 1000
		route.Limits[1].Burst = 10_000
		p.edit(t, route, 5)
		select {
		case <-calls[0].Ready():
			if v := p.Verdict(calls[0]); v.Reason != budget.ReasonTooLarge {
				t.Errorf("15,000 of a burst of 10,000: %+v", v)
			}
		default:
			t.Error("what has become impossible is not told")
		}
		route.Limits = route.Limits[:1]
		p.edit(t, route, 5)
		for _, k := range calls[1:] {
			if p.Verdict(k).State == budget.Admitted {
				continue
			}
			if v, took := p.wait(t, k); v.State != budget.Admitted || took > time.Second {
				t.Errorf("without the limit: %+v after %v", v, took)
			}
		}
		p.edit(t, shared(""), 5)
		for _, k := range calls {
			p.Release(k, admission.Settlement{Kind: admission.Kept})
		}
		p.atRest(t)
		p.edit(t, plan.Route{}, 0)
		p.edit(t, shared(""), 5)
		k := ticket(10, 7, time.Minute)
		if v := p.Enter(k, time.Now()); v.State == budget.Refused {
			t.Errorf("after a route without anything: %+v", v)
		}
	})
}

// A route may lose its last limit while a large call waits to be granted: nothing holds that any longer.
func TestARouteMayLoseAllItsLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, shared(""), 5, true)
		p.connect(true)
		time.Sleep(time.Second)
		k := ticket(15_000, 0, 100*time.Second)
		if v := p.Enter(k, time.Now()); v.State != budget.Queued {
			t.Fatalf("%+v", v)
		}
		route := shared("")
		route.Limits = nil
		p.Configure(route, 5, time.Now())
		if v, took := p.wait(t, k); v.State != budget.Admitted || took > time.Second {
			t.Errorf("%+v after %v", v, took)
		}
		p.Release(k, admission.Settlement{Kind: admission.Kept})
		p.atRest(t)
	})
}
