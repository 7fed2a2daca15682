// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"testing"
	"time"
)

// TestAnExternalBudgetsStandingAndSupply: what is there and in hand is told, and holders are told to expect what the store
// brings, not what it would bring them alone.
func TestAnExternalBudgetsStandingAndSupply(t *testing.T) {
	start := time.Unix(1_800_000_000, 0)
	at := start.Add
	p := New(Config{MaxHolders: 4, Budgets: []Budget{
		{Name: "tokens", Rate: 100, Capacity: 400, SmallCall: 10, External: true}, {Name: "own", Rate: 100, Capacity: 400},
	}}, Leader{Epoch: 1, First: true, Holders: []string{"a", "b"}}, start)
	s := p.Standing(at(0))
	if len(s.Budgets) != 1 || s.Holders != 2 {
		t.Fatalf("%+v", s)
	}
	if b := s.Budgets[0]; b.Name != "tokens" || b.Level != 0 || b.Apart != 25 || b.Safe != 12.5 {
		t.Errorf("two silent holders: %+v", b)
	}
	if left := p.Allot("tokens", []Allotment{{Units: 120}}, at(time.Second)); left != 0 {
		t.Errorf("left: %v", left)
	}
	h := NewHolder(HolderConfig{Name: "a", Incarnation: 1, Fresh: true, Budgets: []HolderBudget{{Name: "tokens"}}}, at(0))
	tell := func(now time.Time) {
		t.Helper()
		r := h.Report([]Demand{{Lane: "default", Small: []Amount{{"tokens", 150}}}}, now)
		if err := p.Report(&r, now); err != nil {
			t.Fatal(err)
		}
		p.Advance(now)
		g, _ := p.Grant(Key{"a", 1}, now)
		h.Receive(&g, now)
	}
	for _, name := range []string{"tokens", "own", "none"} {
		p.Supply(name, []Allotment{{Units: 10}, {Class: "default", Units: 20}})
	}
	for i := range 4 {
		tell(at(time.Second + time.Duration(i)*300*time.Millisecond))
	}
	if b := p.Standing(at(2 * time.Second)).Budgets[0]; b.Level+b.Held != 120 || b.Held == 0 {
		t.Errorf("after grants: %+v", b)
	}
	if x, told := h.Expected("tokens"); !told || x > 30 || x < 20 {
		t.Errorf("told to expect %v, %v", x, told)
	}
}
