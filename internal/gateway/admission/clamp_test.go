// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/headgate-dev/headgate/internal/budget"
	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
	referee "github.com/headgate-dev/headgate/internal/testing/fakeprovider/bucket"
)

// level is what the mirror of the tests' account has; false while it is unknown.
func (g *Gate) level(now time.Time) (float64, bool) {
	grp := g.groups[metered{Account: Account{1, "m"}}]
	if grp == nil {
		return 0, false
	}
	for _, m := range grp.mirrors {
		if m.known {
			return g.sched.Level(m.id, now), true
		}
	}
	return 0, false
}

// A lone gateway with exact costs, calls that overtake each other on their way and back, and reports that are rounded:
// the level is never above what any report proves, refilled and less what was sent since, whatever others spend; and
// where nobody else does, the provider's own bucket is never short by more than the guard. A unit is lost to roundings.
func TestLevelsNeverExceedWhatReportsProve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		millis := func(name string, most int) time.Duration {
			return time.Duration(rapid.IntRange(1, most).Draw(t, name)) * time.Millisecond
		}
		burst := canonicalRate * rapid.Float64Range(10, 60).Draw(t, "seconds of burst")
		w := &world{
			now: epoch, rand: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)), rate: canonicalRate,
			budget:  rapid.SampledFrom([]string{plan.InputTokens, plan.Tokens}).Draw(t, "budget"),
			roundTo: rapid.SampledFrom([]float64{1, 100, 1000}).Draw(t, "rounded to"),
			referee: referee.New(burst, canonicalRate, burst, epoch), forgiving: true,
			upload: uniform(0, millis("upload", 300)),
			until:  uniform(0, millis("until headers", 5000)),
			rest:   uniform(0, millis("rest", 5000)),
		}
		d := newGated(w, canonicalRate, burst)
		proven, at := math.Inf(1), epoch
		refill := func() {
			proven, at = proven+canonicalRate*w.now.Sub(at).Seconds(), w.now
		}
		check := func(when string) {
			level, ok := d.gate.level(w.now)
			if refill(); ok && level > proven+1 {
				t.Fatalf("%s at %v the level is %v, and %v is proven", when, w.now.Sub(epoch), level, proven)
			}
		}
		d.went = func(c *simCall) {
			refill()
			proven -= c.actual
			check("after a send")
		}
		d.answered = func(c *simCall, r *dialect.Reading) {
			check("before an answer")
			b := &r.Budgets[0]
			proven = min(proven, burst, b.Remaining+b.RoundedTo-1+canonicalRate*w.now.Sub(c.sent).Seconds())
			w.after(0, func() { check("after an answer") })
		}
		others := rapid.SampledFrom([]float64{0, 0.1, 0.5}).Draw(t, "others")
		if others > 0 {
			w.spendOutside(others*canonicalRate, epoch.Add(30*time.Second))
		}
		w.load(rapid.Float64Range(0.5, 3).Draw(t, "load"), 0, epoch.Add(30*time.Second))
		w.runUntil(epoch.Add(3 * time.Minute))
		if short := -w.referee.MinLevel(); others == 0 && short > guardStart*burst {
			t.Fatalf("the provider's bucket was short by %v, more than the guard of %v", short, guardStart*burst)
		}
		if w.sends < 20 {
			t.Fatalf("only %d calls went", w.sends)
		}
	})
}

// Whatever providers write, levels and figures stay finite and within their bounds.
func TestAbsurdReportsDoNoLastingHarm(t *testing.T) {
	number := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{
		math.NaN(), math.Inf(1), math.Inf(-1), -1, 0, 1, 1e18, math.MaxFloat64, math.SmallestNonzeroFloat64,
	}))
	span := rapid.SampledFrom([]time.Duration{math.MinInt64, -1, 0, 1, time.Second, time.Hour, math.MaxInt64})
	rapid.Check(t, func(t *rapid.T) {
		now := epoch
		g := New(Options{
			Facts:   facts.Facts{Charges: facts.AsProduced, ResetMeans: facts.ResetFull},
			Clock:   func() time.Time { return now },
			Decided: func(*Ticket, Verdict) {},
		}, plan.Route{
			Lanes:  []plan.Lane{{Name: "default", SharePermille: 1000, MaxDepth: 10, MaxWaitMillis: 1000}},
			Limits: []plan.Limit{{Name: "i", Budget: plan.InputTokens, Amount: 1000, WindowSeconds: 1, Burst: 1000}},
		}, 1, now)
		largest := 0.0
		for range rapid.IntRange(1, 30).Draw(t, "answers") {
			tk := &Ticket{
				Account: Account{1, "m"}, Metered: true, Arrival: now, Deadline: now.Add(time.Second),
				Estimate: Estimate{Input: number.Draw(t, "cost"), InputAtLeast: 1}, Sent: now,
			}
			largest = max(largest, tk.Estimate.Input)
			if math.IsNaN(largest) {
				largest = math.MaxFloat64
			}
			g.Enter(tk, now)
			now = now.Add(time.Duration(rapid.IntRange(-100, 1000).Draw(t, "gap")) * time.Millisecond)
			r := &dialect.Reading{Budgets: []dialect.BudgetReading{{
				Budget: plan.InputTokens, Limit: number.Draw(t, "limit"), Remaining: number.Draw(t, "remaining"),
				RoundedTo: number.Draw(t, "rounded"), Window: span.Draw(t, "window"), Reset: span.Draw(t, "reset"), HasReset: true,
			}}}
			g.Observe(tk, r, now)
			if rapid.Bool().Draw(t, "refused") {
				g.ReleaseAt(tk, Settlement{Kind: Rejected}, now)
				g.Refused(tk, r, "", max(0, span.Draw(t, "wait")), true, now)
			} else {
				used := dialect.Usage{Input: int64(rapid.IntRange(-1, math.MaxInt).Draw(t, "used"))}
				g.ReleaseAt(tk, Settlement{Kind: Billed, Usage: used}, now)
			}
			level, known := g.level(now)
			f := g.Figures(now).Limits[0]
			for name, v := range map[string]float64{
				"level": level, "effective": f.Effective, "outsiders": f.Outsiders, "disagreement": f.Disagreement,
			} {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Fatalf("%s is %v", name, v)
				}
			}
			if m := g.groups[metered{Account: Account{1, "m"}}].mirror(plan.InputTokens); known && level > max(m.limit, largest) {
				// For a call above its capacity a bucket collects.
				t.Fatalf("the level is %v of %v", level, m.limit)
			}
			if f.Effective < floorLeast || f.Effective > 1 || f.Outsiders < 0 {
				t.Fatalf("%+v", f)
			}
		}
	})
}

// clampGate is a gate whose mirror of 400,000 input tokens is known, with nothing in flight.
func clampGate(t *testing.T, shared bool) *Gate {
	t.Helper()
	g := newGate(facts.AsProduced)
	g.shared = shared
	a := ticket(1, 1)
	g.Enter(a, time.Now())
	g.Observe(a, reading(plan.InputTokens, 400_000, 400_000), time.Now())
	g.Release(a, Settlement{Kind: Billed, Usage: dialect.Usage{Input: 1, Output: 1}})
	return g
}

// sent is a call that goes at once.
func sent(t *testing.T, g *Gate, input float64) *Ticket {
	t.Helper()
	c := ticket(input, 1)
	if v := g.Enter(c, time.Now()); v.State != budget.Admitted {
		t.Fatalf("%v tokens: %+v", input, v)
	}
	return c
}

func TestReportedHeadroomReleasesALargeCall(t *testing.T) {
	for name, tc := range map[string]struct {
		shared bool
		want   budget.State
	}{"alone": {false, budget.Admitted}, "among others, who read the same": {true, budget.Queued}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := clampGate(t, tc.shared)
				defer g.Close()
				a, b := sent(t, g, 1000), sent(t, g, 2000)
				g.Observe(a, reading(plan.InputTokens, 400_000, 5_000), time.Now())
				large := ticket(60_000, 1)
				if v := g.Enter(large, time.Now()); v.State != budget.Queued {
					t.Fatalf("the large call is %v", v)
				}
				g.Observe(b, reading(plan.InputTokens, 400_000, 61_500), time.Now())
				if v := g.Verdict(large); v.State != tc.want {
					t.Errorf("after a report of headroom the large call is %v, want %v", v.State, tc.want)
				}
				for _, c := range []*Ticket{a, b, large} {
					g.Release(c, Settlement{Kind: Rejected})
				}
			})
		})
	}
}

// What was sent after the reported call, or was not answered when it was sent, may have come after the report.
func TestReportsAreLoweredByWhatIsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := clampGate(t, false)
		defer g.Close()
		before := sent(t, g, 10_000)
		answered := sent(t, g, 20_000)
		g.Observe(answered, reading(plan.InputTokens, 400_000, 360_000), time.Now())
		a := sent(t, g, 1000)
		after := sent(t, g, 5_000)
		low := sent(t, g, 1)
		g.Observe(low, reading(plan.InputTokens, 400_000, 3_000), time.Now())
		g.Observe(a, reading(plan.InputTokens, 400_000, 300_000), time.Now())
		if got, want := mirrorLevel(t, g, plan.InputTokens), 300_000-10_000-5_000-1.0; math.Abs(got-want) > 1 {
			t.Errorf("the level is %v, want %v: all but what was answered", got, want)
		}
		for _, c := range []*Ticket{before, answered, a, after, low} {
			g.Release(c, Settlement{Kind: Rejected})
		}
	})
}

// An answer that took long says what was true long ago: neither does it lift the level over what was sent and answered
// since, nor lower it below what was refilled since.
func TestAReportFromBeforeANewerOneDoesNoHarm(t *testing.T) {
	for name, old := range map[string]float64{"it was full": 380_000, "it was empty": 0} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := clampGate(t, false)
				defer g.Close()
				slow := sent(t, g, 1000)
				var later []*Ticket
				for range 10 {
					c := sent(t, g, 30_000)
					time.Sleep(time.Second)
					later = append(later, c)
				}
				g.Observe(later[9], reading(plan.InputTokens, 400_000, 50_000), time.Now())
				newer := mirrorLevel(t, g, plan.InputTokens)
				g.Observe(slow, reading(plan.InputTokens, 400_000, old), time.Now())
				if got := mirrorLevel(t, g, plan.InputTokens); math.Abs(got-newer) > 1 {
					t.Errorf("the level was %v and is %v", newer, got)
				}
				for _, c := range append(later, slow) {
					g.Release(c, Settlement{Kind: Rejected})
				}
			})
		})
	}
}

// Calls that were on their way when the first report made the mirror known are in no count of what is in flight.
func TestNothingIsProvenWhileUncountedCallsAreInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(facts.AsProduced)
		defer g.Close()
		uncounted, first := sent(t, g, 100_000), sent(t, g, 1000)
		g.Observe(first, reading(plan.InputTokens, 400_000, 5_000), time.Now())
		g.Release(first, Settlement{Kind: Rejected})
		report := func() float64 {
			c := sent(t, g, 1)
			g.Observe(c, reading(plan.InputTokens, 400_000, 300_000), time.Now())
			g.Release(c, Settlement{Kind: Rejected})
			return mirrorLevel(t, g, plan.InputTokens)
		}
		if got := report(); got > 10_000 {
			t.Errorf("the level is %v while 100,000 may still come", got)
		}
		g.Release(uncounted, Settlement{Kind: Rejected})
		if got := report(); math.Abs(got-300_000) > 1 {
			t.Errorf("the level is %v when all is counted", got)
		}
	})
}
