// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"math"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

// edited is a holder with 1,000 of 6,000 in the pool's 3,000 and more.
func edited(t *testing.T) *pair {
	t.Helper()
	x := newPair(t, one, Leader{Epoch: 1, First: true})
	x.tell()
	for i := range 40 {
		x.wait(time.Second)
		if i < 35 {
			x.tell()
			continue
		}
		x.tell(Demand{Lane: "default", Bulk: 1, Cost: []Amount{{"b", 1000}}})
	}
	x.has("b", 1000)
	return x
}

func configured(capacity, rate float64) Config {
	cfg := one
	cfg.Budgets = []Budget{{Name: "b", Rate: rate, Capacity: capacity, SmallCall: 50, Window: time.Minute}}
	return cfg
}

// An edit never refills: a smaller capacity scales P, a larger one keeps it, and holders keep what they have.
func TestEditsNeverRefill(t *testing.T) {
	for name, tc := range map[string]struct {
		capacity float64
		level    func(before float64) float64
	}{
		"half":    {3000, func(before float64) float64 { return min(before/2, 2000) }},
		"less":    {1200, func(before float64) float64 { return min(before/5, 200) }},
		"nothing": {500, func(float64) float64 { return -500 }},
		"same":    {6000, func(before float64) float64 { return before }},
		"double":  {12000, func(before float64) float64 { return before }},
	} {
		t.Run(name, func(t *testing.T) {
			x := edited(t)
			before := x.p.Figures(x.now).Budgets[0].Level
			if !x.p.Apply(configured(tc.capacity, 200), x.now) {
				t.Fatal("the budgets are the same")
			}
			got := x.p.Figures(x.now).Budgets[0]
			if want := tc.level(before); math.Abs(got.Level-want) > 1e-6 || got.Held != 1000 {
				t.Errorf("level %v, held %v, want %v and 1000", got.Level, got.Held, want)
			}
			x.has("b", 1000)
			x.wait(time.Second)
			after := x.p.Figures(x.now).Budgets[0].Level
			if want := min(got.Level+200, tc.capacity-1000); math.Abs(after-want) > 1e-6 {
				t.Errorf("a second later level %v, want %v", after, want)
			}
		})
	}
}

// What waits goes on waiting, in its lane of that name, at the new rate.
func TestEditsKeepWhatWaits(t *testing.T) {
	before, cfg := one, configured(6000, 400)
	before.Lanes = []budget.Lane{{Name: "bulk", Share: 0.5}, {Name: "default", Share: 0.5}}
	// It comes to stand after another, and waits in it as before.
	cfg.Lanes = []budget.Lane{{Name: "first"}, {Name: "bulk", Share: 0.5}, {Name: "default", Share: 0.5}}
	x := newPair(t, before, Leader{Epoch: 1, First: true})
	want := Demand{Lane: "bulk", Bulk: 1, Cost: []Amount{{"b", 1000}}}
	x.tell(want)
	x.wait(time.Second)
	x.tell(want)
	if !x.p.Apply(cfg, x.now) {
		t.Fatal("the budgets are the same")
	}
	// 1000 of half of 400 a second are 5s, less what came before.
	for range 4 {
		x.wait(time.Second)
		x.tell(want)
		x.has("b", 0)
	}
	x.wait(time.Second)
	x.tell(want)
	x.has("b", 1000)
	if lanes := x.p.Figures(x.now).Lanes; len(lanes) != 3 || lanes[1].Name != "bulk" {
		t.Errorf("%+v", lanes)
	}
}

// Silent holders may go on with the safe share of before, until they are heard.
func TestEditsLeaveTheSilentTheirSafeShare(t *testing.T) {
	x := newPair(t, one, Leader{Epoch: 1, First: true, Holders: []string{"other"}})
	x.tell()
	x.wait(time.Second)
	x.tell()
	if !x.p.Apply(configured(6000, 40), x.now) {
		t.Fatal("the budgets are the same")
	}
	// Half of 100, for two: 25.
	if got := x.p.Figures(x.now).Budgets[0].Rate; got != 20 {
		t.Errorf("refills at %v, but no less than half may be", got)
	}
	if !x.p.Apply(configured(6000, 60), x.now) {
		t.Fatal("the budgets are the same")
	}
	if got := x.p.Figures(x.now).Budgets[0].Rate; got != 35 {
		t.Errorf("refills at %v of 60 beside 25", got)
	}
	x.p.Forget("other", x.now)
	x.wait(time.Second)
	x.tell()
	if !x.p.Apply(configured(6000, 60), x.now) {
		t.Fatal("the budgets are the same")
	}
	if got := x.p.Figures(x.now).Budgets[0].Rate; got != 60 {
		t.Errorf("refills at %v, and nobody is silent", got)
	}
	x.h.Apply([]HolderBudget{{Name: "b", SafeRate: 1, SafeBurst: 10}, {Name: "unknown", SafeRate: 1}}, x.now)
	x.now = x.now.Add(time.Hour)
	x.has("b", 10)
}
