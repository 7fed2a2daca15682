// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
)

// sharedGate is one of at most ten gateways of 400,000 input tokens a minute, on its safe share.
func sharedGate() *Gate {
	f := facts.Facts{Name: "Anthropic", Charges: facts.AsProduced, ResetMeans: facts.ResetFull}
	route := plan.Route{Name: "anthropic", Limits: []plan.Limit{
		{Name: "input-tokens", Budget: plan.InputTokens, Amount: 400_000, WindowSeconds: 60, Burst: 400_000},
		{Name: "in-flight", Budget: plan.InFlight, Amount: 64, Burst: 64},
	}, Lanes: []plan.Lane{{Name: "default", SharePermille: 1000, MaxDepth: 100, MaxWaitMillis: 600_000}}}
	return New(Options{Facts: f, Shared: true}, route, 10, time.Now())
}

func bulk(patience time.Duration) *Ticket {
	t := ticket(60_000, 10)
	t.Estimate.InputAtLeast = 60_000
	t.Deadline = t.Arrival.Add(patience)
	return t
}

func TestBulkCallOnTheSafeShareIsDeclinedWithTheTruth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := sharedGate()
		defer g.Close()
		v := g.Enter(bulk(time.Minute), time.Now())
		if v.State != budget.Refused || v.Reason != budget.ReasonDeadline || v.Limit != "input-tokens" {
			t.Fatalf("%+v: a call that the limit allows is not too large", v)
		}
		if want := "400k/min, safe share 20k/min: no coordinator"; v.Amount != want {
			t.Errorf("described as %q, want %q", v.Amount, want)
		}
		if v.Wait != 3*time.Minute {
			t.Fatalf("fits in %v, want 60,000 / 20,000 a minute", v.Wait)
		}
		time.Sleep(v.Wait)
		back := bulk(time.Minute)
		if v := g.Enter(back, time.Now()); v.State != budget.Admitted {
			t.Errorf("back as told: %+v", v)
		}
		g.Release(back, Settlement{})
		large := ticket(500_000, 10)
		large.Estimate.InputAtLeast = 450_000
		if v := g.Enter(large, time.Now()); v.Reason != budget.ReasonTooLarge {
			t.Errorf("above the declared limit: %+v", v)
		}
	})
}

func TestBulkCallWithPatienceWaitsForTheSafeShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := sharedGate()
		defer g.Close()
		start := time.Now()
		a := bulk(5 * time.Minute)
		if v := g.Enter(a, start); v.State != budget.Queued {
			t.Fatalf("%+v", v)
		}
		if _, err := g.Wait(t.Context(), a); err != nil || time.Since(start) != 3*time.Minute {
			t.Errorf("went after %v, %v", time.Since(start), err)
		}
		g.Release(a, Settlement{})
	})
}

// The coordinator is back: who waits for the safe share goes by the new one at once.
func TestAShareThatComesIsInForceForWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := sharedGate()
		defer g.Close()
		start := time.Now()
		a := bulk(5 * time.Minute)
		g.Enter(a, start)
		time.Sleep(time.Minute)
		g.SetShares(map[string]Share{"input-tokens": {RatePerSecond: 400_000.0 / 60 / 2, Capacity: 200_000}, "in-flight": {Capacity: 32}}, time.Now())
		if _, err := g.Wait(t.Context(), a); err != nil || time.Since(start) != time.Minute+12*time.Second {
			t.Errorf("went after %v, %v: 40,000 more at 3,333/s are 12s", time.Since(start), err)
		}
		g.Release(a, Settlement{})
		if v := g.Enter(bulk(time.Second), time.Now()); v.Amount != "400k/min" {
			t.Errorf("on a share of the coordinator's: %+v", v)
		}
	})
}

// Another gateway joins: who waits and can no longer go in time is told at once, not when its time is up.
func TestAShareThatShrinksTellsWhoIsLateAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := sharedGate()
		defer g.Close()
		share := func(part float64) {
			g.SetShares(map[string]Share{"input-tokens": {RatePerSecond: 400_000.0 / 60 / part, Capacity: 400_000 / part}, "in-flight": {Capacity: 32}}, time.Now())
		}
		share(1)
		var calls []*Ticket
		for range 5 {
			c := ticket(20_000, 10) // 3 s each
			c.Deadline = c.Arrival.Add(20 * time.Second)
			if v := g.Enter(c, time.Now()); v.State != budget.Queued {
				t.Fatalf("%+v", v)
			}
			calls = append(calls, c)
		}
		time.Sleep(time.Second)
		share(4) // 12 s each
		told := 0
		for _, c := range calls {
			if g.Verdict(c).State == budget.Refused {
				told++
			}
		}
		if told != 4 {
			t.Errorf("%d are told, want 4 of 5: the first goes 11s later", told)
		}
		_, _ = g.Wait(t.Context(), calls[0])
		if g.Verdict(calls[0]).State != budget.Admitted {
			t.Errorf("the first is %+v", g.Verdict(calls[0]))
		}
		g.Release(calls[0], Settlement{})
	})
}

func TestAShareOfNothingHasAShortHint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := sharedGate()
		defer g.Close()
		g.SetShares(map[string]Share{"input-tokens": {}, "in-flight": {Capacity: 1}}, time.Now())
		v := g.Enter(bulk(time.Second), time.Now())
		if v.Reason != budget.ReasonDeadline || v.Wait != unknownWait {
			t.Errorf("%+v", v)
		}
	})
}

// 60,000 tokens on a used-up bucket, told 9 s: the refused call and one like it that comes later are both held for
// the 9 s, to the nanosecond, and not by more than the mirror's slower refill.
func TestWhoIsToldNineSecondsGoesNotBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(facts.AsProduced)
		defer g.Close()
		a := ticket(60_000, 10)
		g.Enter(a, time.Now())
		g.Release(a, Settlement{Kind: Rejected})
		refused := time.Now()
		g.Refused(a, &dialect.Reading{}, plan.InputTokens, 9*time.Second, true, refused)
		if v := g.Retry(a, refused.Add(9*time.Second), refused); v.State != budget.Queued {
			t.Fatalf("%+v", v)
		}
		if _, err := g.Wait(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(refused); took < 9*time.Second || took > 9100*time.Millisecond {
			t.Errorf("the refused call went after %v", took)
		}
		g.Release(a, Settlement{})

		b := ticket(60_000, 10)
		g.Enter(b, time.Now())
		g.Release(b, Settlement{Kind: Rejected})
		refused = time.Now()
		g.Refused(b, &dialect.Reading{}, plan.InputTokens, 9*time.Second, true, refused)
		c := ticket(60_000, 10)
		if v := g.Enter(c, time.Now()); v.State == budget.Queued {
			_, _ = g.Wait(t.Context(), c)
		}
		if took := time.Since(refused); took < 9*time.Second || took > 9100*time.Millisecond {
			t.Errorf("another call went after %v", took)
		}
		g.Release(c, Settlement{})
	})
}

// What idle lanes keep is kept where the limits are shared: kept again of the little that the provider has left, it would
// leave the others their own shares of the rate alone.
func TestIdleLanesKeepNothingOfTheProvidersInGatewaysThatShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := facts.Facts{Name: "Anthropic", Charges: facts.AsProduced, ResetMeans: facts.ResetFull}
		route := plan.Route{Name: "anthropic", Limits: []plan.Limit{
			{Name: "input-tokens", Budget: plan.InputTokens, Amount: 400_000, WindowSeconds: 60, Burst: 400_000},
		}, Lanes: []plan.Lane{
			{Name: "bulk", SharePermille: 400, MinInputTokens: 20_000, MaxDepth: 10, MaxWaitMillis: 60_000},
			{Name: "default", SharePermille: 600, MaxDepth: 100, MaxWaitMillis: 60_000},
		}}
		g := New(Options{Facts: f, Shared: true}, route, 10, time.Now())
		defer g.Close()
		g.SetShares(map[string]Share{"input-tokens": {RatePerSecond: 400_000.0 / 60, Capacity: 400_000, Fed: true}}, time.Now())
		g.Feed("input-tokens", 1, 400_000, time.Now())
		for i := range 40 {
			// A call takes what has come since the last one; the provider keeps 4,000 beside.
			time.Sleep(150 * time.Millisecond)
			c := ticket(1000, 10)
			c.Lane = 1
			if v := g.Enter(c, time.Now()); v.State != budget.Admitted {
				t.Fatalf("call %d of 1,000 tokens: %+v, and the provider has 4,000 more", i, v)
			}
			g.Release(c, Settlement{})
			c.Sent = time.Now()
			g.Observe(c, &dialect.Reading{Budgets: []dialect.BudgetReading{
				{Budget: plan.InputTokens, Limit: 400_000, Remaining: 4000, Reset: 59400 * time.Millisecond, HasReset: true},
			}}, time.Now())
		}
	})
}
