// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"fmt"
	"math"
	"testing"
	"time"
)

// A lane that asks for large calls is told how it stands, all holders' calls counted, and which of its own are.
func TestALaneIsToldHowItStands(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	p := New(Config{MaxHolders: 4, Budgets: []Budget{{Name: "b", Rate: 100, Capacity: 1000, SmallCall: 10}}}, Leader{Epoch: 1, First: true}, now)
	holders := map[string]*Holder{}
	ask := func(name string, number uint64, cost float64) {
		now = now.Add(time.Millisecond)
		h := holders[name]
		if h == nil {
			h = NewHolder(HolderConfig{Name: name, Incarnation: 1, Fresh: true, Budgets: []HolderBudget{{Name: "b"}}}, now)
			holders[name] = h
		}
		d := []Demand{{Lane: "default"}}
		if number > 0 {
			d[0].Bulk, d[0].Cost = number, []Amount{{"b", cost}}
		}
		r := h.Report(d, now)
		if err := p.Report(&r, now); err != nil {
			t.Fatal(err)
		}
		p.Advance(now)
		g, _ := p.Grant(Key{name, 1}, now)
		h.Receive(&g, now)
	}
	expect := func(name string, spare float64, asked uint64) {
		t.Helper()
		of, n := holders[name].Outlook("default", time.Second, now)
		if len(of) != 1 || math.Abs(of[0].Spare-spare) > 15 || of[0].PerSecond < 80 || of[0].PerSecond > 100 || n != asked {
			t.Errorf("%s: %+v, asked %d; want %v, %d", name, of, n, spare, asked)
		}
	}
	ask("a", 0, 0)
	if of, _ := holders["a"].Outlook("default", time.Second, now); of != nil {
		t.Errorf("%v is said of a lane that asks for nothing", of)
	}
	ask("a", 1, 800)
	expect("a", -800, 1)
	now = now.Add(500 * time.Millisecond)
	expect("a", -750, 1)
	ask("b", 1, 500)
	expect("b", -1250, 1)
	ask("a", 0, 0)
	// It has left.
	expect("a", -450, 0)
	now = now.Add(1100 * time.Millisecond)
	if of, _ := holders["a"].Outlook("default", time.Second, now); of != nil {
		t.Errorf("%v is a second old", of)
	}
}

// What a leader says of lanes is bounded, and numbers that mean nothing are left out.
func TestOutlooksAreBounded(t *testing.T) {
	o := outlooks{}
	now := time.Now()
	for i := range 3 * maxLanes {
		o.hear(&LaneTotal{Lane: fmt.Sprint(i), Outlook: []Outlook{{"b", math.NaN(), 1}, {"b", math.Inf(-1), math.NaN()}}}, now)
	}
	o.hear(&LaneTotal{Lane: "0", Outlook: make([]Outlook, maxBudgets+1)}, now)
	if len(o) != maxLanes || len(o["0"].of) != 1 || o["0"].of[0] != (Outlook{"b", -largest, 0}) {
		t.Errorf("%d lanes, %+v", len(o), o["0"])
	}
}
