// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"math"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// A gate whose owner keeps the time decides at the owner's times alone, and says when to come.
func TestAGateIsDrivenByItsOwnersClock(t *testing.T) {
	now := epoch
	var told []Verdict
	g := New(Options{
		Facts:   facts.Facts{Charges: facts.AsProduced},
		Clock:   func() time.Time { return now },
		Decided: func(_ *Ticket, v Verdict) { told = append(told, v) },
	}, plan.Route{
		Name:   "r",
		Limits: []plan.Limit{{Name: "requests", Budget: plan.Requests, Amount: 60, WindowSeconds: 60, Burst: 1}},
		Lanes:  []plan.Lane{{Name: "default", SharePermille: 1000, MaxDepth: 10, MaxWaitMillis: 50_000}},
	}, 1, now)
	enter := func() Verdict {
		return g.Enter(&Ticket{Account: Account{1, "m"}, Arrival: now, Deadline: now.Add(time.Minute)}, now)
	}
	if v := enter(); v.State != budget.Admitted {
		t.Fatalf("the first is %v", v)
	}
	if _, ok := g.Next(now); ok {
		t.Error("something is due though nothing waits")
	}
	if v := enter(); v.State != budget.Queued {
		t.Fatalf("the second is %v", v)
	}
	next, ok := g.Next(now)
	if !ok || next.Sub(epoch) != time.Second {
		t.Fatalf("due after %v, %t", next.Sub(epoch), ok)
	}
	now = next.Add(-time.Nanosecond)
	if g.Advance(now); len(told) > 0 {
		t.Fatalf("decided early: %v", told)
	}
	now = next
	if g.Advance(now); len(told) != 1 || told[0].State != budget.Admitted {
		t.Fatalf("told %v", told)
	}
	if g.timer != nil {
		t.Error("there is a timer beside the owner's clock")
	}
}

func TestALanesPlanReachesTheScheduler(t *testing.T) {
	none, some := int64(0), int64(2500)
	for name, c := range map[string]struct {
		plan plan.Lane
		want budget.Lane
	}{
		"all": {
			plan.Lane{
				Name: "a", SharePermille: 250, Priority: -3, Weight: 7, HoldMillis: &some, MaxDepth: 9, MaxBytes: 1 << 20,
				MaxWaitMillis: 1500,
			},
			budget.Lane{
				Name: "a", Share: 0.25, Priority: -3, Weight: 7, Hold: 2500 * time.Millisecond, MaxDepth: 9, MaxBytes: 1 << 20,
				MaxWait: 1500 * time.Millisecond,
			},
		},
		"no hold": {plan.Lane{HoldMillis: &none}, budget.Lane{Hold: -1, MaxDepth: -1}},
		// A plan states every depth: 0 is a lane whose calls do not wait.
		"no places": {plan.Lane{}, budget.Lane{MaxDepth: -1}},
		"endless": {
			plan.Lane{MaxWaitMillis: math.MaxInt64},
			budget.Lane{MaxDepth: -1, MaxWait: time.Duration(math.MaxInt64 - math.MaxInt64%int64(time.Millisecond))},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := lane(c.plan); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}
