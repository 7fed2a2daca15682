// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"fmt"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

// with is a configuration of budgets that have 6,000 and refill by 100 a second.
func with(names ...string) Config {
	cfg := one
	cfg.Budgets = nil
	for _, name := range names {
		cfg.Budgets = append(cfg.Budgets, Budget{Name: name, Rate: 100, Capacity: 6000, SmallCall: 50, Window: time.Minute})
	}
	return cfg
}

// A budget that changes its kind, or where it refills from, needs another pool.
func TestEditsOfWhatABudgetIsAreRefused(t *testing.T) {
	x := edited(t)
	level := x.p.Figures(x.now).Budgets[0].Level
	slots, external, shadow := with("b"), with("b"), with("c")
	slots.Budgets[0].Kind = budget.Slots
	external.Budgets[0].External = true
	shadow.Shadows = []Shadow{{Name: "b", Of: "c", Lanes: []string{"default"}, Rate: 1, Capacity: 10}}
	many := with("b")
	for i := range maxPoolBudgets - 1 {
		many.Budgets = append(many.Budgets, with(fmt.Sprint(i)).Budgets...)
	}
	for range 3 {
		if !x.p.Apply(many, x.now) {
			break
		}
		for i := range many.Budgets[1:] {
			many.Budgets[1+i].Name += "'"
		}
	}
	for name, cfg := range map[string]Config{"slots": slots, "external": external, "a shadow": shadow, "more than there is room for": many} {
		if x.p.Apply(cfg, x.now) {
			t.Errorf("%s: it is put in force", name)
		}
	}
	if got := x.p.Figures(x.now).Budgets[0].Level; got != level {
		t.Errorf("level %v, was %v", got, level)
	}
}

// Budgets that come begin with nothing, and disturb nobody; those that go and come back begin with nothing too, and what
// holders have of them counts all the time.
func TestBudgetsOfAPoolComeAndGo(t *testing.T) {
	x := edited(t)
	level, term := x.p.Figures(x.now).Budgets[0].Level, x.h.Term()
	apply := func(names ...string) []BudgetFigures {
		t.Helper()
		if !x.p.Apply(with(names...), x.now) {
			t.Fatalf("%v is not put in force", names)
		}
		out := x.p.Figures(x.now).Budgets
		if len(out) != len(names) {
			t.Fatalf("%d budgets, want %v", len(out), names)
		}
		return out
	}
	got := apply("b", "c")
	if got[0].Level != level || got[0].Held != 1000 || got[1].Level != 0 || got[1].Name != "c" {
		t.Errorf("b and c: %+v, b had %v", got, level)
	}
	x.h.Adopt([]HolderBudget{{Name: "b", SafeRate: 5, SafeBurst: 50}, {Name: "c", SafeRate: 5, SafeBurst: 50}}, OutageSafe, x.now)
	x.wait(3 * time.Second)
	demand := Demand{Lane: "default", Bulk: 1, Cost: []Amount{{"b", 1000}}, Small: []Amount{{"c", 100}}}
	x.tell(demand)
	x.has("c", 100)
	x.has("b", 1000)
	if x.h.Term() != term {
		t.Error("a new term began")
	}
	got = apply("c")
	if got[0].Held != 100 {
		t.Errorf("c: %+v", got[0])
	}
	x.wait(2 * time.Second)
	x.tell(demand)
	got = apply("c", "b")
	for _, b := range got {
		if b.Name == "b" && (b.Level != 0 || b.Held < 900) {
			t.Errorf("b came back as %+v", b)
		}
	}
	x.p.Resume([]Known{{Name: "b", Level: 700, Capacity: 6000, Published: 3000}}, x.now)
	for _, b := range x.p.Figures(x.now).Budgets {
		if b.Name == "b" && (b.Level != 700 || b.Unknown != 0) {
			t.Errorf("b resumed as %+v", b)
		}
	}
}

// What is known of a budget from another pool is no more than what it was, and ends in a TTL.
func TestResumeBringsNoMoreThanThereWas(t *testing.T) {
	for name, tc := range map[string]struct {
		known                 Known
		level, unknown, later float64
	}{
		"as it was":     {Known{Level: 2000, Outstanding: 1000, Published: 3000, Capacity: 6000}, 2000, 1000, 0},
		"twice as much": {Known{Level: 2000, Outstanding: 1000, Published: 6000, Capacity: 12000}, 1000, 1000, 0},
		"half as much":  {Known{Level: 2000, Outstanding: 1000, Published: 1500, Capacity: 3000}, 2000, 1000, 0},
		"no room":       {Known{Level: 6000, Outstanding: 5000, Published: 6000, Capacity: 6000}, 1000, 5000, 0},
		"owed":          {Known{Level: -500, Capacity: 6000}, -500, 0, 0},
		"absurd":        {Known{Level: 1e300, Outstanding: 1e300, Capacity: 1}, 0, 6000, 0},
	} {
		t.Run(name, func(t *testing.T) {
			x := newPair(t, one, Leader{Epoch: 1, First: true})
			if !x.p.Apply(with("b", "c"), x.now) {
				t.Fatal("it is not put in force")
			}
			tc.known.Name = "c"
			x.p.Resume([]Known{tc.known}, x.now)
			c := x.p.Figures(x.now).Budgets[1]
			if c.Level > tc.level+1e-6 || c.Level < tc.level-60 || c.Unknown != tc.unknown {
				t.Errorf("it begins with %v and %v unknown, want %v and %v", c.Level, c.Unknown, tc.level, tc.unknown)
			}
			x.now = x.now.Add(11 * time.Second)
			if c := x.p.Figures(x.now).Budgets[1]; c.Unknown != tc.later {
				t.Errorf("%v is unknown after a TTL", c.Unknown)
			}
		})
	}
}

// A shadow without capacity lets nothing pass, and holds up nobody.
func TestNothingPassesAShadowWithoutCapacity(t *testing.T) {
	cfg := one
	cfg.Lanes = []budget.Lane{{Name: "none"}, {Name: "default", Share: 1}}
	cfg.Shadows = []Shadow{{Name: "b@none", Of: "b", Lanes: []string{"none"}}}
	x := newPair(t, cfg, Leader{Epoch: 1, First: true})
	demands := []Demand{
		{Lane: "none", Small: []Amount{{"b", 100}}, Bulk: 1, Cost: []Amount{{"b", 300}}},
		{Lane: "default", Small: []Amount{{"b", 100}}},
	}
	x.tell(demands...)
	for range 5 {
		x.wait(time.Second)
		x.tell(demands...)
	}
	if units, bulk := x.h.Granted("none", "b"); units != 0 || bulk != 0 {
		t.Errorf("%v were granted, and call %d", units, bulk)
	}
	if units, _ := x.h.Granted("default", "b"); units < 90 {
		t.Errorf("the other lane was granted %v", units)
	}
}
