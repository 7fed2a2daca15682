// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/simulate/clock"
	"github.com/headgate-dev/headgate/internal/simulate/workload"
	_ "github.com/headgate-dev/headgate/internal/testing/seed"
)

// promised is the canonical route with a lane of 40 %.
func promised(hold *int64) *private {
	return newPrivate(&plan.Route{
		Dialect: "Anthropic",
		Limits: []plan.Limit{
			{Name: "rpm", Budget: plan.Requests, Amount: 4000, WindowSeconds: 60, Burst: 4000},
			{Name: "itpm", Budget: plan.InputTokens, Amount: 400_000, WindowSeconds: 60, Burst: 400_000},
			{Name: "day", Budget: plan.InputTokens, Amount: 1, WindowSeconds: 86_400, Burst: 1},
			{Name: "slots", Budget: plan.InFlight, Amount: 1, Burst: 1},
		},
		Lanes: []plan.Lane{
			{Name: "bulk", SharePermille: 400, HoldMillis: hold}, {Name: "none"}, {Name: "default", SharePermille: 600},
		},
	}, &workload.Provider{})
}

func at(seconds float64) time.Time {
	return clock.Start.Add(time.Duration(seconds * float64(time.Second)))
}

func big(arrival float64) *Call { return &Call{Input: 60_000, Estimate: 60_000, Arrival: at(arrival)} }

func TestAPrivateBucketFillsByItsShare(t *testing.T) {
	p := promised(nil)
	for _, c := range []struct{ arrival, sent, late float64 }{
		{0, 22.5, 0},    // 60,000/(0.4·6,667) from empty
		{0, 46, 1},      // the next needs as long again, from when the first left
		{100, 112.5, 0}, // idle it keeps ten seconds of its rate
		{100, 100, 0},   // borrowed: it left before its own bucket would have let it go
		{100, 160, 2.5}, // at 135 and 157.5 the own bucket would have let these go
	} {
		if late := p.left(0, big(c.arrival), at(c.sent)); math.Abs(late-c.late) > 1e-6 {
			t.Errorf("arrived %v, sent %v: %v late, want %v", c.arrival, c.sent, late, c.late)
		}
	}
	if l := p.lanes[0]; math.Abs(l.largest-22.5) > 1e-9 || math.Abs(l.late-2.5) > 1e-6 {
		t.Errorf("largest %v, late %v", l.largest, l.late)
	}
}

func TestHoldIsThePolicys(t *testing.T) {
	none := int64(0)
	p := promised(&none)
	if late := p.left(0, big(100), at(123)); math.Abs(late-0.5) > 1e-6 {
		t.Errorf("%v late", late)
	}
}

func TestALaneWithoutAShareIsPromisedNothing(t *testing.T) {
	if late := promised(nil).left(1, big(0), at(1e6)); late != 0 {
		t.Errorf("%v late", late)
	}
}

func TestWhatTheProviderAllowsIsNotTheLanesFault(t *testing.T) {
	route := &plan.Route{
		Dialect: "Anthropic", Limits: []plan.Limit{{Name: "itpm", Budget: plan.InputTokens, Amount: 800_000, WindowSeconds: 60, Burst: 800_000}},
		Lanes: []plan.Lane{{Name: "default", SharePermille: 1000}},
	}
	p := newPrivate(route, &workload.Provider{Limits: []workload.Limit{
		{Budget: plan.InputTokens, Amount: 400_000, Window: time.Minute, Burst: 400_000},
	}})
	if late := p.left(0, big(0), at(9/mirrored)); late > 1e-6 {
		t.Errorf("%v late", late)
	}
}

// A lane that is served by a bucket of its own, in the order of arrival, is never late; served a second later each
// time, it is late by just that.
func TestWhoHasABucketOfHisOwnIsNeverLate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const rate, hold = 0.4 * 400_000 / 60, 10 * 0.4 * 400_000 / 60
		delay := rapid.SampledFrom([]float64{0, 1}).Draw(t, "delay")
		p := promised(nil)
		arrival, free, level, worst := 0.0, 0.0, 0.0, 0.0
		for range rapid.IntRange(1, 50).Draw(t, "calls") {
			arrival += rapid.Float64Range(0, 40).Draw(t, "gap")
			size := math.Round(rapid.Float64Range(1000, 80_000).Draw(t, "size"))
			begins := max(arrival, free)
			level = max(level, min(hold, level+rate*(begins-free)))
			wait := max(0, (size-level)/rate)
			level = max(level, min(max(hold, size), level+rate*wait)) - size
			free = begins + wait
			worst = max(worst, p.left(0, &Call{Input: size, Estimate: size, Arrival: at(arrival)}, at(free+delay)))
		}
		if math.Abs(worst-delay) > 1e-6 {
			t.Fatalf("%v late, want %v", worst, delay)
		}
	})
}
