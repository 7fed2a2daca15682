// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/headgate-dev/headgate/internal/budget"
)

// To charge by place is to charge by name: reports, balances and when they are due are the same, with a lease and without.
func TestChargesByPlaceAreThoseByName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		now := begin
		names := []string{"a", "b", "slots"}
		start := func() *Holder {
			return NewHolder(HolderConfig{Name: "h", Incarnation: 1, Fresh: true, Budgets: []HolderBudget{
				{Name: "a", SafeRate: 1, SafeBurst: 10}, {Name: "b", SafeRate: 2, SafeBurst: 20}, {Name: "slots", Kind: budget.Slots, SafeBurst: 2},
			}}, now)
		}
		byName, byPlace := start(), start()
		both := []*Holder{byName, byPlace}
		places := []int{byPlace.Place("a"), byPlace.Place("b"), -1}
		if byPlace.Place("none") != -1 {
			t.Fatal("a budget that is none has a place")
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "ms")) * time.Millisecond)
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				units := rapid.SliceOfN(rapid.Float64Range(-50, 50), 3, 3).Draw(t, "units")
				slot := rapid.SampledFrom([]float64{-1, 0, 1}).Draw(t, "slot")
				byName.Charge("a", units[0], now)
				byName.Charge("b", units[1], now)
				byName.Charge("slots", slot, now)
				byPlace.Leased(now)
				byPlace.ChargeAt(places, units)
				byPlace.UseAt(byPlace.Place("slots"), slot)
			case 1:
				total := rapid.Float64Range(0, 1000).Draw(t, "total")
				for _, h := range both {
					r := h.Report(nil, now)
					h.Receive(&Grant{
						Holder: "h", Incarnation: 1, Term: Term{1, 1}, Ack: r.Sequence, Stamp: int64(now.Sub(begin)) + 1,
						Totals: []Amount{{"a", total}, {"b", total}, {"slots", 3}},
					}, now)
				}
			case 2:
				if x, y := byName.Report(nil, now), byPlace.Report(nil, now); !reflect.DeepEqual(x, y) {
					t.Fatalf("%+v\n%+v", x, y)
				}
			}
			for _, name := range names {
				if x, y := byName.Balance(name, now), byPlace.Balance(name, now); x != y {
					t.Fatalf("%s: %v, %v", name, x, y)
				}
			}
			if x, y := byName.Due(now), byPlace.Due(now); !x.Equal(y) || byName.News() != byPlace.News() {
				t.Fatalf("due %v, %v", x, y)
			}
		}
	})
}
