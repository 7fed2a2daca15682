// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

// TestWhereThereIsPlentyMoreIsGrantedThanWaits: for who rested cannot know what follows.
func TestWhereThereIsPlentyMoreIsGrantedThanWaits(t *testing.T) {
	const part = aheadPart * 380_000 / 4
	call := Demand{Lane: "default", Small: []Amount{{"tokens", 2000}, {"requests", 1}}}
	for _, tc := range []struct {
		name string
		cfg  Config
		// before happens after a long rest.
		before           func(x *pair)
		tokens, requests float64
	}{
		{"all is there: a part of the capacity, and of the other budget in proportion", canonical(4), func(*pair) {}, part, part / 2000},
		{"half is spent", canonical(4), func(x *pair) { x.spend(200_000) }, 2000, 1},
		{"nearly half is spent: what is beyond half", canonical(4), func(x *pair) { x.spend(185_000) }, 2000 + 4000, 1 + 2},
		{"somebody waits", twoLanes(), func(x *pair) { x.other(380_000) }, 2000, 1},
		{"no more is published", canonical(4), func(x *pair) { x.other(187_000) }, 2000 + 1000, 1 + 0.5},
		{"a store gives what there is", external(), func(x *pair) {
			x.p.Allot("tokens", []Allotment{{Units: 300_000}}, x.now)
			x.p.Allot("requests", []Allotment{{Units: 3000}}, x.now)
		}, 2000, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			x := newPair(t, tc.cfg, Leader{Epoch: 1, First: true})
			x.p.Published(x.p.State(x.now))
			for range 90 {
				x.tell()
				x.wait(time.Second)
			}
			tc.before(x)
			x.tell(call)
			x.has("tokens", tc.tokens)
			x.has("requests", tc.requests)
		})
	}
}

// spend has the holder be granted a large call, and spend it.
func (x *pair) spend(tokens float64) {
	x.Helper()
	x.tell(Demand{Lane: "default", Bulk: 1, Cost: []Amount{{"tokens", tokens}}})
	x.p.Published(x.p.State(x.now))
	x.wait(time.Millisecond)
	x.answer()
	x.has("tokens", tokens)
	x.h.Charge("tokens", tokens, x.now)
	x.tell()
}

// other has another holder ask for a large call, in a lane of its own where there is one.
func (x *pair) other(tokens float64) {
	x.Helper()
	other := &teller{r: Report{Holder: "other", Wants: []Want{{Lane: "bulk", Bulk: 1, Units: []Amount{{"tokens", tokens}}}}}}
	for range 2 {
		other.tell(x.T, x.p, x.now)
	}
}

func twoLanes() Config {
	return canonical(4, budget.Lane{Name: "bulk", Share: 0.5}, budget.Lane{Name: "default", Share: 0.5})
}
