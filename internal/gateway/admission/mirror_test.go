// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
)

// newGate is a gate of 400,000 input tokens and 4,000 requests a minute.
func newGate(charges facts.Charges) *Gate {
	f := facts.Facts{Name: "Anthropic", Charges: charges, ResetMeans: facts.ResetFull, CachedInputFree: true}
	route := plan.Route{Name: "anthropic", Limits: []plan.Limit{
		{Name: "requests", Budget: plan.Requests, Amount: 4000, WindowSeconds: 60, Burst: 4000},
		{Name: "input-tokens", Budget: plan.InputTokens, Amount: 400_000, WindowSeconds: 60, Burst: 400_000},
		{Name: "output-tokens", Budget: plan.OutputTokens, Amount: 80_000, WindowSeconds: 60, Burst: 80_000},
	}, Lanes: []plan.Lane{{Name: "default", SharePermille: 1000, MaxDepth: 100, MaxWaitMillis: 50_000}}}
	return New(Options{Facts: f}, route, 1, time.Now())
}

func ticket(input, output float64) *Ticket {
	now := time.Now()
	return &Ticket{
		Account: Account{1, "m"}, Metered: true, Arrival: now, Deadline: now.Add(time.Minute), Sent: now,
		Estimate: Estimate{Input: input, InputAtLeast: input / 2, Output: output, text: input},
	}
}

func mirrorLevel(t *testing.T, g *Gate, name string) float64 {
	t.Helper()
	var s budget.Snapshot
	g.sched.Snapshot(time.Now(), &s)
	for _, b := range s.Buckets {
		if b.Name == (metered{Account: Account{1, "m"}}).name()+name {
			return b.Level
		}
	}
	return math.Inf(1)
}

func reading(name string, limit, remaining float64) *dialect.Reading {
	return &dialect.Reading{Budgets: []dialect.BudgetReading{{
		Budget: name, Limit: limit, Remaining: remaining, RoundedTo: 1, Window: time.Minute,
	}}}
}

func TestReportsOnlyTighten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(facts.AsProduced)
		defer g.Close()
		a := ticket(100, 10)
		g.Enter(a, time.Now())
		g.Observe(a, reading(plan.InputTokens, 2_000_000, 5_000), time.Now())
		inside := 2_000_000 / 60 * jitterStart.Seconds()
		if got := mirrorLevel(t, g, plan.InputTokens); math.Abs(got-(5_000-inside)) > 1 {
			t.Errorf("the mirror has %v", got)
		}
		g.Observe(a, reading(plan.InputTokens, 2_000_000, 1_000_000), time.Now())
		if got := mirrorLevel(t, g, plan.InputTokens); got > 5_000-inside+1 {
			t.Errorf("a later report raised the mirror to %v", got)
		}
		if got := g.Figures(time.Now()).Limits[1]; got.Capacity != 400_000 || got.ProviderLimit != 2_000_000 || got.ProviderRemaining != 1_000_000 {
			t.Errorf("figures %+v", got)
		}
		g.Release(a, Settlement{})
	})
}

func TestRateIsLearnedFromLimitRemainingAndReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(facts.AsProduced)
		defer g.Close()
		a := ticket(100, 10)
		g.Enter(a, time.Now())
		g.Observe(a, &dialect.Reading{Budgets: []dialect.BudgetReading{{
			Budget: plan.InputTokens, Limit: 100_000, Remaining: 40_000, RoundedTo: 1, Reset: 6 * time.Second, HasReset: true,
		}}}, time.Now())
		time.Sleep(time.Second)
		if got, want := mirrorLevel(t, g, plan.InputTokens), 40_000+10_000*(slower-jitterStart.Seconds()); math.Abs(got-want) > 1 {
			t.Errorf("a second later the mirror has %v, want %v", got, want)
		}
		g.Release(a, Settlement{})
	})
}

func TestRefusalIsAFactAboutTheLevelItNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(facts.AsProduced)
		defer g.Close()
		a := ticket(60_000, 10)
		g.Enter(a, time.Now())
		g.Release(a, Settlement{Kind: Rejected})
		g.Refused(a, &dialect.Reading{}, plan.InputTokens, 9*time.Second, true, time.Now())
		if got := mirrorLevel(t, g, plan.InputTokens); math.Abs(got-120) > 1 {
			t.Errorf("the mirror has %v: 60,000 less 9 s of refill is 120 by our slower clock", got)
		}
		if !math.IsInf(mirrorLevel(t, g, plan.Requests), 1) {
			t.Error("a budget that was not named is touched")
		}
		small := ticket(100, 1)
		if v := g.Enter(small, time.Now()); v.State != budget.Admitted {
			t.Errorf("a small call is %v: one refusal must not hold what fits", v.State)
		}
		g.Release(small, Settlement{})
	})
}

func TestBudgetsShownSufficientAreNotBlamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(facts.AsProduced)
		defer g.Close()
		a := ticket(60_000, 10)
		g.Enter(a, time.Now())
		g.Release(a, Settlement{Kind: Rejected})
		r := &dialect.Reading{Budgets: []dialect.BudgetReading{
			{Budget: plan.Requests, Limit: 4000, Remaining: 3000, Window: time.Minute},
			{Budget: plan.InputTokens, Limit: 400_000, Remaining: 8_000, Window: time.Minute, RoundedTo: 1000},
		}}
		g.Observe(a, r, time.Now())
		g.Refused(a, r, "", 7800*time.Millisecond, true, time.Now())
		if got := mirrorLevel(t, g, plan.Requests); got < 2980 {
			t.Errorf("requests were shown sufficient and have %v", got)
		}
		if got := mirrorLevel(t, g, plan.InputTokens); got > 9_000 {
			t.Errorf("input tokens have %v", got)
		}
	})
}

func TestGuidanceThatFitsNoBucketHoldsByTimeAndOneGoesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{Facts: facts.Facts{Charges: facts.AsProduced}}, plan.Route{
			Name: "r", Lanes: []plan.Lane{{Name: "default", SharePermille: 1000, MaxDepth: 100, MaxWaitMillis: 50_000}},
		}, 1, time.Now())
		defer g.Close()
		a := ticket(10, 10)
		g.Enter(a, time.Now())
		g.Release(a, Settlement{Kind: Rejected})
		g.Refused(a, &dialect.Reading{}, "", 5*time.Second, true, time.Now())
		start := time.Now()
		var went []time.Duration
		done := make(chan time.Duration, 3)
		for range 3 {
			go func() {
				b := ticket(10, 10)
				if v := g.Enter(b, time.Now()); v.State == budget.Queued {
					if _, err := g.Wait(t.Context(), b); err != nil {
						t.Error(err)
					}
				}
				done <- time.Since(start)
				g.Release(b, Settlement{})
			}()
		}
		for range 3 {
			went = append(went, <-done)
		}
		if went[0] < 5*time.Second || went[1] < went[0]+time.Second/holdRate || went[2] < went[1]+time.Second/holdRate {
			t.Errorf("calls went after %v", went)
		}
		a.Sent = start.Add(time.Nanosecond)
		g.Succeeded(a)
		c := ticket(10, 10)
		if v := g.Enter(c, time.Now()); v.State != budget.Admitted {
			t.Errorf("after a success the hold stays: %v", v)
		}
		g.Release(c, Settlement{})
	})
}

func TestSettlementsFollowTheKind(t *testing.T) {
	usage := dialect.Usage{Input: 200, Output: 30, CachedRead: 8000, CacheWrite: 500, CacheOutside: true}
	cases := map[string]struct {
		charges                 facts.Charges
		s                       Settlement
		requests, input, output float64
	}{
		"billed, C3 cached reads are free": {facts.AsProduced, Settlement{Kind: Billed, Usage: usage}, 1, 700, 30},
		"rejected":                         {facts.AsProduced, Settlement{Kind: Rejected}, 1, 0, 0},
		"not sent":                         {facts.AsProduced, Settlement{Kind: NotSent}, 1, 0, 0},
		"kept":                             {facts.AsProduced, Settlement{Kind: Kept, Usage: dialect.Unknown()}, 1, 1000, 100},
		"kept, more was seen":              {facts.AsProduced, Settlement{Kind: Kept, Usage: dialect.Unknown(), Seen: 250}, 1, 1000, 250},
		"billed, output unknown":           {facts.AsProduced, Settlement{Kind: Billed, Usage: dialect.Usage{Input: 200, Output: -1}}, 1, 200, 100},
		"B5 output unknown, more was seen": {facts.AsProduced, Settlement{Kind: Billed, Usage: dialect.Usage{Input: 200, Output: -1}, Seen: 250}, 1, 200, 250},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGate(tc.charges)
				defer g.Close()
				a := ticket(1000, 100)
				g.Enter(a, time.Now())
				g.Release(a, tc.s)
				g.Release(a, Settlement{Kind: Kept})
				f := g.Figures(time.Now())
				got := fmt.Sprint(f.Limits[0].Spent, f.Limits[1].Spent, f.Limits[2].Spent)
				if want := fmt.Sprint(tc.requests, tc.input, tc.output); got != want || f.Reserved != 0 {
					t.Errorf("spent %s, want %s; reserved %v", got, want, f.Reserved)
				}
			})
		})
	}
}

func TestAccountsThatAreMirroredAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(facts.AsProduced)
		defer g.Close()
		for i := range 3 * maxGroups {
			a := ticket(1, 1)
			a.Account.Fingerprint = uint64(i)
			g.Enter(a, time.Now())
			g.Observe(a, reading(plan.InputTokens, 1000, 900), time.Now())
			g.Release(a, Settlement{Kind: Rejected})
		}
		if len(g.groups) > maxGroups {
			t.Errorf("%d accounts", len(g.groups))
		}
	})
}

func TestFloorOfAnAbsurdCostIsTheStatedReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(facts.MaxAtAdmission)
		defer g.Close()
		a := ticket(100, 1<<53)
		g.Enter(a, time.Now())
		g.Release(a, Settlement{Kind: Rejected})
		r := &dialect.Reading{Budgets: []dialect.BudgetReading{{
			Budget: plan.OutputTokens, Limit: 80_000, Remaining: 0, Window: time.Minute, Reset: 40 * time.Second, HasReset: true,
		}}}
		g.Observe(a, r, time.Now())
		if floor, ok := g.Floor(a, r); !ok || floor != 40*time.Second {
			t.Errorf("the floor is %v, %t, want the reset of 40s", floor, ok)
		}
	})
}

// TestA10ABucketThatFillsSlowerThanItsWindowSaysIsWaitedForAsLong: a reset is the time to full, so what is missing and when
// it is there again give the rate, whatever window the budget's name has elsewhere.
func TestA10ABucketThatFillsSlowerThanItsWindowSaysIsWaitedForAsLong(t *testing.T) {
	for name, tc := range map[string]struct {
		remaining   float64
		reset, want time.Duration
	}{
		"as its window says":       {0, time.Minute, 45 * time.Second},
		"a little slower, rounded": {100, time.Minute, 39 * time.Second},
		"three minutes":            {0, 3 * time.Minute, 135 * time.Second},
		"six, half of it is there": {500, 6 * time.Minute, 180 * time.Second},
		"too short to tell":        {990, 900 * time.Millisecond, 0},
		"full sooner":              {0, 20 * time.Second, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGate(facts.MaxAtAdmission)
				defer g.Close()
				a := ticket(100, 750)
				g.Enter(a, time.Now())
				g.Release(a, Settlement{Kind: Rejected})
				r := &dialect.Reading{Budgets: []dialect.BudgetReading{{
					Budget: plan.OutputTokens, Limit: 1000, Remaining: tc.remaining, Window: time.Minute, Reset: tc.reset, HasReset: true,
				}}}
				g.Observe(a, r, time.Now())
				floor, _ := g.Floor(a, r)
				if floor.Round(time.Millisecond) != tc.want {
					t.Errorf("the floor is %v, want %v", floor, tc.want)
				}
			})
		})
	}
}

// What is shown of the provider is one account's, the scarcest: never the level of one beside the limit of another.
func TestScarcestAccountIsShownWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(facts.AsProduced)
		defer g.Close()
		for i := range 20 {
			a := ticket(1, 1)
			a.Account.Fingerprint = uint64(i)
			g.Enter(a, time.Now())
			g.Observe(a, reading(plan.InputTokens, float64(1000*(i+1)), float64(500*(i+1))), time.Now())
			g.Release(a, Settlement{Kind: Rejected})
		}
		if f := g.Figures(time.Now()).Limits[1]; f.ProviderRemaining != 500 || f.ProviderLimit != 1000 {
			t.Errorf("%v of %v are shown, want 500 of 1000", f.ProviderRemaining, f.ProviderLimit)
		}
	})
}

// TestA14WhoWasSentBeforeAHoldEndsItNot: a call that was under way when another was told to wait is answered well, which says
// nothing of now. The others wait on, until one that went after the wait is served.
func TestA14WhoWasSentBeforeAHoldEndsItNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{Facts: facts.Facts{Charges: facts.AsProduced}}, plan.Route{
			Name: "r", Lanes: []plan.Lane{{Name: "default", SharePermille: 1000, MaxDepth: 100, MaxWaitMillis: 50_000}},
		}, 1, time.Now())
		defer g.Close()
		long, refused := ticket(10, 10), ticket(10, 10)
		g.Enter(long, time.Now())
		g.Enter(refused, time.Now())
		time.Sleep(time.Second)
		g.Release(refused, Settlement{Kind: Rejected})
		g.Refused(refused, &dialect.Reading{}, "", 30*time.Second, true, time.Now())
		told := time.Now()
		time.Sleep(time.Second)
		g.Succeeded(long)
		g.Release(long, Settlement{Kind: Kept})
		probe := ticket(10, 10)
		if v := g.Enter(probe, time.Now()); v.State != budget.Queued {
			t.Fatalf("a second after others were told to wait for thirty: %+v", v)
		}
		if _, err := g.Wait(t.Context(), probe); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(told); waited < 30*time.Second {
			t.Errorf("the next went %s after that", waited)
		}
		probe.Sent = time.Now()
		g.Succeeded(probe)
		g.Release(probe, Settlement{Kind: Kept})
		for range 3 {
			c := ticket(10, 10)
			if v := g.Enter(c, time.Now()); v.State != budget.Admitted {
				t.Errorf("after that was served: %+v", v)
			}
			g.Release(c, Settlement{Kind: NotSent})
		}
	})
}

// TestLimitsThatAnswerInTurnShrinkNoMirror: of a few deployments behind one name each reports its own limit. The smaller one's
// is no edit that takes its part of a level, and again with each answer, until nothing is left.
func TestLimitsThatAnswerInTurnShrinkNoMirror(t *testing.T) {
	for _, shared := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			g := newGate(facts.MaxAtAdmission)
			g.shared = shared
			defer g.Close()
			for i := range 40 {
				c := ticket(500, 100)
				if v := g.Enter(c, time.Now()); v.State != budget.Admitted {
					t.Fatalf("shared %v: call %d: %+v", shared, i, v)
				}
				c.Sent = time.Now()
				time.Sleep(100 * time.Millisecond)
				limit := []float64{400_000, 40_000}[i%2]
				g.Observe(c, reading(plan.InputTokens, limit, limit-1000), time.Now())
				g.Release(c, Settlement{Kind: Billed, Usage: dialect.Usage{Input: 500, Output: 100}})
				if level := mirrorLevel(t, g, plan.InputTokens); level < 30_000 {
					t.Fatalf("shared %v: after %d calls the mirror has %v", shared, i+1, level)
				}
			}
		})
	}
}
