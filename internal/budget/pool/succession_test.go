// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"fmt"
	"math"
	"testing"
	"time"
)

// What a leader before granted is out until all that it named have said what they have left, and no longer.
func TestWhatIsOutEndsWhenAllHeirsWereHeard(t *testing.T) {
	cfg := Config{Budgets: []Budget{{Name: "b", Rate: 10, Capacity: 100, SmallCall: 1}}, MaxHolders: 10}
	now := time.Unix(1000, 0)
	first := New(cfg, Leader{Epoch: 1, First: true}, now)
	var holders []*Holder
	for i := range 3 {
		h := NewHolder(HolderConfig{Name: fmt.Sprint("h", i), Incarnation: 1, Fresh: true, Budgets: []HolderBudget{{Name: "b"}}}, now)
		holders = append(holders, h)
	}
	speak := func(p *Pool, h *Holder) {
		t.Helper()
		r := h.Report([]Demand{{Lane: "default", Small: []Amount{{"b", 10}}}}, now)
		if err := p.Report(&r, now); err != nil {
			t.Fatal(err)
		}
		p.Advance(now)
		g, _ := p.Grant(Key{r.Holder, r.Incarnation}, now)
		h.Receive(&g, now)
		now = now.Add(200 * time.Millisecond)
	}
	for range 20 {
		for _, h := range holders {
			speak(first, h)
		}
	}
	heirs, named := first.Heirs(now)
	if !named || len(heirs) != 3 {
		t.Fatalf("%v %v", heirs, named)
	}
	first.Extend(now)
	known := first.Known(now)
	second := New(cfg, Leader{Epoch: 2}, now)
	second.Resume(known, now)
	second.Await(heirs, now)
	unknown := func() float64 { return second.Figures(now).Budgets[0].Unknown }
	level := func() float64 { return second.Figures(now).Budgets[0].Level }
	if got := unknown(); got != known[0].Outstanding || got <= 0 || math.Abs(level()-known[0].Level) > 1 {
		t.Fatalf("unknown %v, level %v; handed over were %+v", got, level(), known[0])
	}
	// Spent and not told to the first one.
	if _, ok := holders[2].Take([]Amount{{"b", 5}}, now); !ok {
		t.Fatal("nothing is in hand")
	}
	for range 3 {
		speak(second, holders[0])
		speak(second, holders[1])
	}
	if left, all := second.Heirs(now); !all || len(left) != 3 || unknown() < 5 {
		t.Fatalf("one was not heard of: heirs %v %v, unknown %v", left, all, unknown())
	}
	speak(second, holders[2])
	if unknown() < 5 {
		t.Errorf("it has not quoted its term yet, and what it spent is forgotten: %v", unknown())
	}
	speak(second, holders[2])
	if unknown() != 0 {
		t.Errorf("all were heard of, and %v may be out", unknown())
	}
}

// Who is not heard of is waited for a TTL, and so is what another pool of this leader had. Who drains has nothing.
func TestHeirsThatAreNotHeardAreWaitedFor(t *testing.T) {
	cfg := Config{Budgets: []Budget{{Name: "b", Rate: 10, Capacity: 100, SmallCall: 1}}, MaxHolders: 10}
	now := time.Unix(1000, 0)
	gone, drained := Key{"gone", 1}, Key{"drained", 1}
	begin := func() *Pool {
		p := New(cfg, Leader{Epoch: 2}, now)
		p.Resume([]Known{{Name: "b", Outstanding: 60, Published: 100, Capacity: 100}}, now)
		p.Await([]Heir{heirOf(gone), heirOf(drained)}, now)
		if err := p.Report(&Report{Holder: "drained", Incarnation: 1, Sequence: 9, Draining: true}, now); err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := begin()
	if got := p.Figures(now.Add(9 * time.Second)).Budgets[0].Unknown; got != 60 {
		t.Errorf("unknown %v within the lease of one that was not heard of", got)
	}
	if got := p.Figures(now.Add(11 * time.Second)).Budgets[0].Unknown; got != 0 {
		t.Errorf("unknown %v after its lease", got)
	}
	p = begin()
	p.Resume([]Known{{Name: "b", Outstanding: 60, Published: 100, Capacity: 100}}, now)
	p.disown(gone)
	if got := p.Figures(now).Budgets[0].Unknown; got != 60 {
		t.Errorf("unknown %v: heirs say nothing of what another pool's holders have", got)
	}
	if _, named := p.Heirs(now); named {
		t.Error("it names heirs as if they were all")
	}
}
