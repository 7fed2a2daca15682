// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
)

// capacity is what the mirror of input tokens may hold.
func (g *Gate) capacity() float64 {
	return g.groups[metered{Account: Account{1, "m"}}].mirror(plan.InputTokens).capacity
}

// serve makes calls one after the other whose answers take so long and cost so many times what was reserved.
func serve(t *testing.T, g *Gate, n int, took func(i int) time.Duration, factor func(i int) float64) {
	t.Helper()
	for i := range n {
		c := sent(t, g, 1000)
		time.Sleep(took(i))
		g.Observe(c, reading(plan.InputTokens, 400_000, 390_000), time.Now())
		g.Release(c, Settlement{Kind: Billed, Usage: dialect.Usage{Input: int64(1000 * factor(i)), Output: 1}})
		time.Sleep(time.Second)
	}
}

func TestTheGuardIsLearnedAndStartsAnewWhenItWasTooLittle(t *testing.T) {
	steady := func(int) time.Duration { return 100 * time.Millisecond }
	exact := func(int) float64 { return 1 }
	for name, tc := range map[string]struct {
		took   func(i int) time.Duration
		factor func(i int) float64
		// want is the guard in tokens.
		least, most float64
	}{
		"steady and exact: the least": {steady, exact, 2000, 2000},
		"jitter of 400 ms, R·jitter": {func(i int) time.Duration {
			if i%100 == 0 {
				return 500 * time.Millisecond
			}
			return 100 * time.Millisecond
		}, exact, 0.35 * canonicalRate, 0.41 * canonicalRate},
		"jitter beyond what transport has": {func(i int) time.Duration { return time.Duration(i%10) * time.Second }, exact, 0.5 * canonicalRate, 0.5*canonicalRate + 1},
		"estimates off by half: 3σ":        {steady, func(i int) float64 { return 0.5 + float64(i%2) }, 2000, 2000 + 0.05*canonicalRate},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := clampGate(t, false)
				defer g.Close()
				if got := 400_000 - g.capacity(); math.Abs(got-20_000) > 1 {
					t.Errorf("the guard starts with %v, not 5 %% of the burst", got)
				}
				serve(t, g, guardSamples+50, tc.took, tc.factor)
				if got := 400_000 - g.capacity(); got < tc.least-1 || got > tc.most+guardStep*400_000 {
					t.Errorf("the guard is %v, want %v to %v", got, tc.least, tc.most)
				}
				c := sent(t, g, 1000)
				time.Sleep(time.Millisecond)
				g.Release(c, Settlement{Kind: Rejected})
				g.Refused(c, &dialect.Reading{}, plan.InputTokens, time.Second, true, time.Now())
				if got := 400_000 - g.capacity(); math.Abs(got-20_000) > 1 {
					t.Errorf("after a refusal the guard is %v", got)
				}
			})
		})
	}
}

// Three refusals of one wave are one fact; a later one is another.
func TestAWaveOfRefusalsCutsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := clampGate(t, false)
		defer g.Close()
		refuse := func(calls ...*Ticket) float64 {
			for _, c := range calls {
				time.Sleep(10 * time.Millisecond)
				g.Release(c, Settlement{Kind: Rejected})
				g.Refused(c, &dialect.Reading{}, plan.InputTokens, time.Second, true, time.Now())
			}
			return g.Figures(time.Now()).Limits[1].Effective
		}
		a, b, c := sent(t, g, 1000), sent(t, g, 1000), sent(t, g, 1000)
		if got := refuse(a, b, c); math.Abs(got-cutFactor) > 1e-9 {
			t.Errorf("after one wave %v is used", got)
		}
		time.Sleep(2 * time.Second)
		if got := refuse(sent(t, g, 1000)); math.Abs(got-cutFactor*cutFactor) > 1e-9 {
			t.Errorf("after the next %v is used", got)
		}
		time.Sleep(5 * time.Minute)
		g.Release(sent(t, g, 1), Settlement{Kind: Rejected})
		if got := g.Figures(time.Now()).Limits[1].Effective; got != 1 {
			t.Errorf("five minutes later %v is used", got)
		}
	})
}

// A gateway that shares its limits owns no rate.
func TestAGatewayThatSharesCutsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := clampGate(t, true)
		defer g.Close()
		for range 10 {
			c := sent(t, g, 1)
			time.Sleep(time.Second)
			g.Release(c, Settlement{Kind: Rejected})
			g.Refused(c, &dialect.Reading{}, plan.InputTokens, time.Millisecond, true, time.Now())
			time.Sleep(time.Second)
		}
		if got := g.Figures(time.Now()).Limits[1].Effective; got != 1 {
			t.Errorf("%v is used", got)
		}
	})
}

// A rate computed from a long reset is not replaced by one from a short reset, whose rounding is most of it.
func TestShortResetsDoNotSpoilALearnedRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(facts.AsProduced)
		defer g.Close()
		report := func(remaining float64, reset time.Duration) float64 {
			c := sent(t, g, 1)
			defer g.Release(c, Settlement{Kind: Rejected})
			g.Observe(c, &dialect.Reading{Budgets: []dialect.BudgetReading{{
				Budget: plan.InputTokens, Limit: 100_000, Remaining: remaining, RoundedTo: 1, Reset: reset, HasReset: true,
			}}}, time.Now())
			return g.groups[metered{Account: Account{1, "m"}}].mirror(plan.InputTokens).rate
		}
		if got := report(40_000, 36*time.Second); math.Abs(got-60_000.0/36) > 1e-6 {
			t.Fatalf("the rate is %v", got)
		}
		if got := report(98_000, 2*time.Second); math.Abs(got-60_000.0/36) > 1e-6 {
			t.Errorf("a reset of 2 s makes the rate %v", got)
		}
		if got := report(20_000, 40*time.Second); math.Abs(got-2000) > 1e-6 {
			t.Errorf("a reset of 40 s leaves the rate at %v", got)
		}
	})
}

// The level that a wait of whole seconds tells of: what is reported counts within the second that was rounded up.
func TestToldLevels(t *testing.T) {
	for name, tc := range map[string]struct {
		cost      float64
		wait      time.Duration
		remaining float64
		want      float64
	}{
		"nothing reported":              {60_000, 9 * time.Second, math.Inf(-1), 6_000},
		"within the second":             {60_000, 9 * time.Second, 8_000, 8_000},
		"beyond it: a debt":             {10, 9 * time.Second, 0, 10 - 8*6_000},
		"an exact wait":                 {60_000, 9500 * time.Millisecond, 8_000, 3_000},
		"no wait, though it is refused": {10, 0, 5_000, 10},
	} {
		t.Run(name, func(t *testing.T) {
			if got := told(tc.cost, tc.wait, 6_000, tc.remaining); math.Abs(got-tc.want) > 1e-6 {
				t.Errorf("%v, want %v", got, tc.want)
			}
		})
	}
}
