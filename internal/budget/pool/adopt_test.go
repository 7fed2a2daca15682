// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"fmt"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

func tokens(name string) HolderBudget {
	return HolderBudget{Name: name, Kind: budget.Continuous, SafeRate: 1, SafeBurst: 10}
}

// A budget that comes to a holder's begins with nothing, and one that goes gives back what is left of it.
func TestBudgetsComeAndGo(t *testing.T) {
	now := time.Unix(1000, 0)
	cfg := Config{MaxHolders: 2, Budgets: []Budget{
		{Name: "a", Rate: 10, Capacity: 100, SmallCall: 1}, {Name: "b", Rate: 10, Capacity: 100, SmallCall: 1},
	}}
	p := New(cfg, Leader{Epoch: 1, First: true}, now)
	h := NewHolder(HolderConfig{Name: "h", Incarnation: 1, Budgets: []HolderBudget{tokens("a")}, Fresh: true}, now)
	exchange := func(demands ...Demand) {
		t.Helper()
		r := h.Report(demands, now)
		if err := p.Report(&r, now); err != nil {
			t.Fatal(err)
		}
		p.Advance(now)
		g, _ := p.Grant(Key{"h", 1}, now)
		h.Receive(&g, now)
		now = now.Add(time.Second)
	}
	want := func(name string) Demand { return Demand{Lane: "default", Small: []Amount{{name, 5}}} }
	exchange(want("a"))
	exchange(want("a"))
	exchange(want("a"))
	if got := h.Balance("a", now); got < 5 {
		t.Fatalf("has %v of a", got)
	}
	h.Adopt([]HolderBudget{tokens("b")}, OutageSafe, now)
	if got := h.Balance("b", now); got != 0 {
		t.Errorf("begins with %v of b", got)
	}
	exchange(want("b"))
	exchange(want("b"))
	exchange(want("b"))
	exchange(want("b"))
	if got := h.Balance("b", now); got < 5 {
		t.Errorf("has %v of b, which it asked for", got)
	}
	if got := h.Balance("a", now); got > 1e-9 {
		t.Errorf("keeps %v of a", got)
	}
	if held := p.Held(Key{"h", 1}, "a", now); held > 1e-9 {
		t.Errorf("the pool counts %v of a as held", held)
	}
}

// However many budgets there were, counters of one that comes back go on where they were, and it never has more than it
// was granted.
func TestABudgetThatComesBackBringsNothing(t *testing.T) {
	now := time.Unix(1000, 0)
	h := NewHolder(HolderConfig{Name: "h", Incarnation: 1, Budgets: []HolderBudget{tokens("a")}, Fresh: true}, now)
	r := h.Report(nil, now)
	g := Grant{Holder: "h", Incarnation: 1, Term: Term{1, 1}, Ack: r.Sequence, Stamp: 1, Totals: []Amount{{"a", 100}}}
	h.Receive(&g, now)
	h.Charge("a", 70, now)
	for i := range 3 {
		var others []HolderBudget
		for j := range maxBudgets {
			others = append(others, tokens(fmt.Sprint("other-", i, "-", j)))
		}
		h.Adopt(others, OutageSafe, now)
	}
	if len(h.pockets) > maxBudgets || len(h.byName) > maxBudgets {
		t.Fatalf("%d budgets are kept", len(h.pockets))
	}
	h.Adopt([]HolderBudget{tokens("a")}, OutageLastGrant, now)
	if got := h.Balance("a", now); got != 0 {
		t.Errorf("it came back with %v", got)
	}
	if c := h.Report(nil, now).Counts; len(c) > maxBudgets {
		t.Errorf("%d are reported", len(c))
	}
	g.Stamp, g.Totals[0].Units = 2, 110
	h.Receive(&g, now)
	if got := h.Balance("a", now); got != 40 {
		t.Errorf("has %v of 110 granted and 70 spent", got)
	}
	for i := range 2 * maxLeft {
		h.Adopt([]HolderBudget{tokens(fmt.Sprint("further-", i))}, OutageSafe, now)
	}
	if len(h.left) > maxLeft {
		t.Errorf("%d are remembered", len(h.left))
	}
}

func TestLeaseIsWhatIsLeftOfIt(t *testing.T) {
	now := time.Unix(1000, 0)
	h := NewHolder(HolderConfig{Name: "h", Incarnation: 1, Budgets: []HolderBudget{tokens("a")}, TTL: 10 * time.Second}, now)
	if h.Lease(now) != 0 {
		t.Error("a lease without a grant")
	}
	r := h.Report(nil, now)
	h.Receive(&Grant{Holder: "h", Incarnation: 1, Term: Term{1, 1}, Ack: r.Sequence, Stamp: 1}, now.Add(time.Second))
	if got := h.Lease(now.Add(3 * time.Second)); got != 7*time.Second {
		t.Errorf("%v are left", got)
	}
	if got := h.Lease(now.Add(10 * time.Second)); got != 0 {
		t.Errorf("%v are left at its end", got)
	}
}
