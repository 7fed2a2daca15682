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
	// twice is two intervals' refill, part what each of twenty holders may be granted so.
	const twice, part = 2 * 400_000.0 / 60, aheadPart * 380_000 / 20
	call := Demand{Lane: "default", Small: []Amount{{"tokens", 2000}, {"requests", 1}}}
	for _, tc := range []struct {
		name string
		cfg  Config
		// before happens after a long rest.
		before           func(x *pair)
		tokens, requests float64
	}{
		{"all is there: as much as might be asked for, and of the other budget in proportion", canonical(4), func(*pair) {}, twice, twice / 2000},
		{"there may be many holders: a part of the capacity", canonical(20), func(*pair) {}, part, part / 2000},
		{"a day's, of which a crash would burn what nobody used", daily(), func(*pair) {}, 2000, 1},
		{"half is spent", canonical(4), func(x *pair) { x.spend(200_000) }, 2000, 1},
		{"nearly half is spent: what is beyond half", canonical(4), func(x *pair) { x.spend(185_000) }, 2000 + 4000, 1 + 2},
		{"somebody waits", twoLanes(), func(x *pair) { x.other(380_000) }, 2000, 1},
		{"half of what is published", canonical(4), func(x *pair) { x.other(187_000) }, 2000 + 500, 1 + 0.25},
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

// daily is the canonical account with a limit on the tokens of a day beside it.
func daily() Config {
	cfg := canonical(4)
	cfg.Budgets[0] = Budget{Name: "tokens", Rate: 10e6 / 86_400, Capacity: 9.5e6, Window: 24 * time.Hour, SmallCall: 2000}
	return cfg
}

func twoLanes() Config {
	return canonical(4, budget.Lane{Name: "bulk", Share: 0.5}, budget.Lane{Name: "default", Share: 0.5})
}
