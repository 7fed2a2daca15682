// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"encoding/json"
	"math"
	"testing"
)

// FuzzHandover: whatever a document says that has its right sum, a leader that believes it begins with no more than there can
// be, and has a document of its own for the next.
func FuzzHandover(f *testing.F) {
	w := newWorld(f, 1, lan)
	w.policy("a", "chat", "", 4, lanes(1000), tokens("own", 60_000, 100_000))
	first := w.next(Leadership{Epoch: 5, First: true})
	for _, s := range []State{
		first.State(w.clock()), first.Hand(w.clock()),
		{Pools: []PoolState{{Namespace: "a", Policy: "chat", Provider: "openai", Budgets: []BudgetState{{Name: "own", Debt: -1e300, Outstanding: 1e300, Level: 1e300}}}}},
		{Pools: []PoolState{{Namespace: "a", Policy: "chat", Provider: "openai", Heirs: []byte("0123456789"), Named: true, Budgets: []BudgetState{{Name: "own", Level: -5}, {Name: "own", Level: 7}}}}},
	} {
		text, err := json.Marshal(s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, true)
		f.Add(text, false)
	}
	f.Fuzz(func(t *testing.T, text []byte, final bool) {
		var s State
		if json.Unmarshal(text, &s) != nil {
			return
		}
		s.Version, s.Origin, s.Epoch, s.Final = StateVersion, "here", 5, final
		s = s.Sealed()
		if text, err := s.Encode(); err == nil {
			if again, err := ParseState(text); err != nil || !again.Same(&s) {
				t.Fatalf("what was sealed is not read again: %v", err)
			}
		}
		w := newWorld(t, 1, lan)
		r := w.policy("a", "chat", "", 4, lanes(1000), tokens("own", 60_000, 100_000))
		l := w.next(Leadership{Epoch: 6, Before: 5, Last: s})
		for _, b := range l.pools[Key{Route: r}].pool.Figures(w.clock()).Budgets {
			if sum := b.Level + b.Held + b.Unknown; math.IsNaN(sum) || sum > 100_000 || b.Held < 0 || b.Unknown < 0 {
				t.Fatalf("%s: level %v, held %v, unknown %v", b.Name, b.Level, b.Held, b.Unknown)
			}
		}
		if _, err := l.State(w.clock()).Encode(); err != nil {
			t.Fatalf("there is nothing for the next leader: %v", err)
		}
		if _, err := l.Hand(w.clock()).Encode(); err != nil {
			t.Fatalf("there is nothing to hand over: %v", err)
		}
	})
}
