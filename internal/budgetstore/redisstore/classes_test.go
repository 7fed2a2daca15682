// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package redisstore

import (
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budget/pool"
)

// member is a drawer in a test of classes: of which it is, what it asks for in a second, and what it is to have.
type member struct {
	class string
	asks  float64
	want  float64
}

// TestClassesHaveTheirPartsOverAllDrawers: each its share, whichever drawers it is in and however many; what nobody claims by
// max-min and weight.
func TestClassesHaveTheirPartsOverAllDrawers(t *testing.T) {
	s := open(t)
	terms := map[string]pool.Claim{
		"a":    {Class: "a", Share: 0.5, Weight: 1},
		"b":    {Class: "b", Share: 0.2, Weight: 1},
		"rest": {Class: "rest", Weight: 1}, "thrice": {Class: "thrice", Weight: 3},
		"keeps": {Class: "keeps", Share: 0.4, Weight: 1, Unlent: 0.5},
	}
	for name, members := range map[string][]member{
		// Five hungry drawers of one tenant have no more of what is another's than one, and as much of what is nobody's.
		"a guarantee against many": {
			{"a", 150, 75}, {"rest", 150, 5}, {"rest", 150, 5}, {"rest", 150, 5}, {"rest", 150, 5}, {"rest", 150, 5},
		},
		"a guarantee in two drawers": {{"a", 150, 32.5}, {"a", 150, 32.5}, {"b", 150, 35}},
		"lent while it is idle":      {{"a", 0, 0}, {"b", 150, 60}, {"rest", 150, 40}},
		"in part":                    {{"a", 20, 20}, {"b", 150, 50}, {"rest", 150, 30}},
		"by weight":                  {{"thrice", 150, 75}, {"rest", 150, 25}},
		"what is not lent":           {{"keeps", 0, 0}, {"rest", 150, 80}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, s, digest(name), pool.Budget{Name: "tokens", Rate: 100, Capacity: 300, SmallCall: 2, External: true})
			w.fate.delay = 3 * time.Millisecond
			had := make([]float64, len(members))
			for i, m := range members {
				w.join(string(rune('a' + i))).purse.class = terms[m.class]
			}
			for w.now < 30*time.Second {
				w.step(moment)
				for i, d := range w.drawers {
					d.purse.demand[0] = members[i].asks
					if spent := w.spend(d, 0, members[i].asks*moment.Seconds()); w.now > 18*time.Second {
						had[i] += spent / 12
					}
				}
			}
			t.Logf("a second: %.2f", had)
			for i, m := range members {
				if had[i] < 0.93*m.want-0.5 || had[i] > 1.07*m.want+0.5 {
					t.Errorf("%d, of %q, had %.2f, its part is %v", i, m.class, had[i], m.want)
				}
			}
		})
	}
}

// TestAGuaranteeIsThereWhenItIsNeeded: what others borrowed is not taken back, the refill is the owner's at once.
func TestAGuaranteeIsThereWhenItIsNeeded(t *testing.T) {
	w := newWorld(t, open(t), 5, pool.Budget{Name: "tokens", Rate: 100, Capacity: 300, SmallCall: 2, External: true})
	w.fate.delay = 3 * time.Millisecond
	owner, other := w.join("owner"), w.join("other")
	owner.purse.class = pool.Claim{Class: "a", Share: 0.5, Weight: 1}
	other.purse.class = pool.Claim{Class: "b", Weight: 1}
	had := 0.0
	for w.now < 33*time.Second {
		w.step(moment)
		other.purse.demand[0] = 300
		w.spend(other, 0, 6)
		if w.now > 30*time.Second {
			owner.purse.demand[0] = 300
			had += w.spend(owner, 0, 300)
		}
	}
	// Three seconds bring it 150: one draw, and half a second for the others to hear of it.
	if had < 100 {
		t.Errorf("it had %.1f in three seconds of 50 each", had)
	}
}

// TestLargeCallsCollectTheirLanesShare of the refill while small calls take all they get, and their parts beside each other.
func TestLargeCallsCollectTheirLanesShare(t *testing.T) {
	s := open(t)
	for name, c := range map[string]struct {
		shares []float64
		cost   float64
		small  float64
	}{
		"two tenths":                  {[]float64{0.2}, 120, 80},
		"six tenths":                  {[]float64{0.6}, 240, 40},
		"two lanes beside each other": {[]float64{0.1, 0.3}, 120, 60},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, s, digest(name), pool.Budget{Name: "tokens", Rate: 100, Capacity: 500, SmallCall: 2, External: true})
			w.fate.delay = 3 * time.Millisecond
			small := w.join("small")
			rest := 1.0
			large := make([]*drawer, len(c.shares))
			gone := make([]float64, len(c.shares))
			for i, share := range c.shares {
				rest -= share
				large[i] = w.join(string(rune('a' + i)))
				class := string(rune('a' + i))
				large[i].purse.class = pool.Claim{Class: class, Share: share, Weight: 1}
				large[i].purse.of = []pool.Claimant{{Class: class, Lane: class, Key: class, Shares: []float64{share}}}
			}
			small.purse.class = pool.Claim{Class: "small", Share: rest, Weight: 1}
			had := 0.0
			for w.now < 80*time.Second {
				w.step(moment)
				small.purse.demand[0] = 300
				if spent := w.spend(small, 0, 300); w.now > 20*time.Second {
					had += spent / 60
				}
				for i, d := range large {
					if d.purse.level[0] >= c.cost {
						w.spend(d, 0, c.cost)
						if w.now > 20*time.Second {
							gone[i] += c.cost / 60
						}
					}
					d.purse.bulk = [][]pool.Amount{{{Budget: "tokens", Units: c.cost - d.purse.level[0]}}}
				}
			}
			t.Logf("small calls had %.1f of 100 a second, large ones %.1f", had, gone)
			if had < c.small-6 || had > c.small+6 {
				t.Errorf("small calls had %.1f, their lane's share is %v", had, c.small)
			}
			for i, share := range c.shares {
				if want := 100 * share; gone[i] < want-8 || gone[i] > want+8 {
					t.Errorf("large calls of lane %d had %.1f, its share is %v", i, gone[i], want)
				}
			}
		})
	}
}
