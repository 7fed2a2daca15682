// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"testing"
	"time"
)

// The pool shares the slots that its store lets it have, and no others. What is in use beyond that stays so until its calls
// end, and then nobody else has it.
func TestSlotsAreThoseThatAreLeased(t *testing.T) {
	cfg := slotsOf(6, 8)
	cfg.Budgets[0].External = true
	p, now := New(cfg, Leader{Epoch: 1, First: true}, origin), origin
	g := says(t, p, Report{Holder: "g", Incarnation: 1, Sequence: 1, Counts: []Count{{Budget: "s"}}}, now)
	sequence := uint64(1)
	report := func(wants, returned float64) float64 {
		sequence++
		now = now.Add(time.Second)
		g = says(t, p, Report{
			Holder: "g", Incarnation: 1, Sequence: sequence, Term: g.Term, Stamp: g.Stamp, Lease: 9 * time.Second,
			Counts: []Count{{Budget: "s", Returned: returned}}, Wants: []Want{{Lane: "default", Units: []Amount{{"s", wants}}}},
		}, now)
		return units(g.Totals, "s") - returned
	}
	stands := func(held, wanted float64) {
		t.Helper()
		s := p.Standing(now).Budgets[0]
		if !s.Slots || s.Held != held || s.Wanted != wanted || s.Capacity != 6 || s.Unknown != 0 {
			t.Errorf("%+v, %v are held and %v wanted", s, held, wanted)
		}
	}
	if n := report(4, 0); n != 0 {
		t.Errorf("%v of none", n)
	}
	stands(0, 4)
	if lacks := p.Needs(now).Slots; len(lacks) != 1 || lacks[0].Units != 4 {
		t.Errorf("needs %v", lacks)
	}
	p.Lease("s", 3, now)
	if n := report(4, 0); n != 3 {
		t.Errorf("%v of three", n)
	}
	stands(3, 1)
	p.Lease("s", 1, now)
	if n := report(5, 1); n != 2 {
		t.Errorf("%v are left of three, one of which came back", n)
	}
	p.Lease("s", 100, now)
	if n := report(20, 1); n != 6 {
		t.Errorf("%v of the six that there are", n)
	}
	p.Lease("tokens", 5, now) // there is none
}
