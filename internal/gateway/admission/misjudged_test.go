// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
)

// TestARefusalWithinAnEstimatesErrorCutsNothing: a large call that was a little larger than it looked says nothing of the
// rate; one that finds half of what the mirror promised does.
func TestARefusalWithinAnEstimatesErrorCutsNothing(t *testing.T) {
	for name, tc := range map[string]struct {
		answer *dialect.Reading
		wait   time.Duration
		want   float64
	}{
		"a little is missing":  {reported(59_500), time.Second, 1},
		"the wait is for more": {reported(59_500), 2 * time.Second, 1},
		"half is missing":      {&dialect.Reading{}, 5 * time.Second, cutFactor},
	} {
		t.Run(name, func(t *testing.T) {
			now := epoch
			g := loneGate(&now)
			defer g.Close()
			small := admit(t, g, 2000, now)
			now = now.Add(100 * time.Millisecond)
			g.Observe(small, reported(80_000), now)
			g.ReleaseAt(small, Settlement{Kind: Billed, Usage: dialect.Usage{Input: 2000, Output: 1}}, now)
			now = now.Add(time.Millisecond)
			large := admit(t, g, 60_000, now)
			now = now.Add(100 * time.Millisecond)
			g.ReleaseAt(large, Settlement{Kind: Rejected}, now)
			g.Observe(large, tc.answer, now)
			g.Refused(large, tc.answer, plan.InputTokens, tc.wait, true, now)
			if got := g.Figures(now).Limits[0].Effective; got < tc.want-1e-9 || got > tc.want+1e-9 {
				t.Errorf("the rate in effect is %v, want %v", got, tc.want)
			}
			if v := g.Enter(&Ticket{Account: Account{1, "m"}, Metered: true, Arrival: now, Estimate: Estimate{Input: 60_000, InputAtLeast: 1}}, now); v.State == budget.Admitted {
				t.Error("the same call would go again at once")
			}
		})
	}
}

// TestARefusalBesideALargeCallCutsNothing: a small call finds what the large one beside it took beyond its estimate.
func TestARefusalBesideALargeCallCutsNothing(t *testing.T) {
	for large, want := range map[float64]float64{0: cutFactor, 60_000: 1} {
		now := epoch
		g := loneGate(&now)
		send := func(input float64) *Ticket {
			c := admit(t, g, input, now)
			now = now.Add(time.Millisecond)
			return c
		}
		first := send(2000)
		g.Observe(first, reported(80_000), now)
		g.ReleaseAt(first, Settlement{Kind: Billed, Usage: dialect.Usage{Input: 2000, Output: 1}}, now)
		now = now.Add(time.Millisecond)
		if large > 0 {
			send(large)
		}
		small := send(2000)
		g.ReleaseAt(small, Settlement{Kind: Rejected}, now)
		g.Refused(small, reported(500), plan.InputTokens, time.Second, true, now)
		if got := g.Figures(now).Limits[0].Effective; got < want-1e-9 || got > want+1e-9 {
			t.Errorf("beside %v: the rate in effect is %v, want %v", large, got, want)
		}
		g.Close()
	}
}

// reported is an answer of an account of 100,000 tokens.
func reported(left float64) *dialect.Reading {
	return &dialect.Reading{Budgets: []dialect.BudgetReading{
		{Budget: plan.InputTokens, Limit: 100_000, Remaining: left, RoundedTo: 1, Window: 15 * time.Second},
	}}
}

// loneGate guards an account of 400,000 tokens a minute.
func loneGate(now *time.Time) *Gate {
	return New(Options{Facts: facts.Facts{Charges: facts.AsProduced}, Clock: func() time.Time { return *now }}, plan.Route{
		Name:   "r",
		Limits: []plan.Limit{{Name: "tokens", Budget: plan.InputTokens, Amount: 400_000, WindowSeconds: 60, Burst: 100_000}},
		Lanes:  []plan.Lane{{Name: "default", SharePermille: 1000, MaxDepth: 10, MaxWaitMillis: 60_000}},
	}, 1, *now)
}

// admit sends a call that goes at once.
func admit(t *testing.T, g *Gate, input float64, now time.Time) *Ticket {
	t.Helper()
	c := &Ticket{
		Account: Account{1, "m"}, Metered: true, Arrival: now, Deadline: now.Add(time.Minute), Sent: now,
		Estimate: Estimate{Input: input, InputAtLeast: input / 2},
	}
	if v := g.Enter(c, now); v.State != budget.Admitted {
		t.Fatalf("entered as %+v", v)
	}
	return c
}
