// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

func slotsOf(n float64, maxHolders int) Config {
	return Config{MaxHolders: maxHolders, Budgets: []Budget{{Name: "s", Kind: budget.Slots, Capacity: n}}}
}

// says has a holder report, and returns what the pool answers.
func says(t *testing.T, p *Pool, r Report, now time.Time) Grant {
	t.Helper()
	if err := p.Report(&r, now); err != nil {
		t.Fatal(err)
	}
	p.Advance(now)
	g, _ := p.Grant(Key{r.Holder, r.Incarnation}, now)
	return g
}

// free are the slots that the pool could still grant.
func free(t *testing.T, p *Pool, now time.Time) float64 {
	t.Helper()
	g := says(t, p, Report{Holder: "probe", Incarnation: 1, Sequence: uint64(now.UnixNano()), Counts: []Count{{Budget: "s"}}}, now)
	g = says(t, p, Report{
		Holder: "probe", Incarnation: 1, Sequence: uint64(now.UnixNano()) + 1, Term: g.Term, Stamp: g.Stamp, Lease: time.Second,
		Counts: []Count{{Budget: "s"}}, Wants: []Want{{Lane: "default", Units: []Amount{{"s", 100}}}},
	}, now)
	n := units(g.Totals, "s")
	says(t, p, Report{Holder: "probe", Incarnation: 1, Sequence: uint64(now.UnixNano()) + 2, Counts: []Count{{Budget: "s", Returned: n}}, Draining: true}, now)
	return n
}

// A gateway that has fewer slots to own than one has one without a lease, and none if there are none.
func TestWhoOwnsNoSlotHasOneWithoutALease(t *testing.T) {
	for capacity, want := range map[float64]float64{0: 0, 1: 1, 3: 1, 8: 1, 64: 8} {
		b := slotsOf(capacity, 4).Budgets[0]
		_, safe := Safe(b, 4)
		h := NewHolder(HolderConfig{Name: "g", Budgets: []HolderBudget{{Name: "s", Kind: budget.Slots, SafeBurst: safe}}}, origin)
		if got := h.Balance("s", origin); got != want {
			t.Errorf("%v of %v", got, capacity)
		}
	}
}

// The pool leaves a slot to each that may have one without a lease, but not more than half of them.
func TestSlotsAreLeftToTheSilent(t *testing.T) {
	p := New(slotsOf(5, 8), Leader{Epoch: 1, First: true}, origin)
	if got := free(t, p, origin); got != 5 {
		t.Fatalf("%v are free", got)
	}
	for i, want := range []float64{4, 3, 3} {
		p.Expect(string(rune('a'+i)), origin)
		if got := free(t, p, origin.Add(time.Duration(i+1)*time.Minute)); got != want {
			t.Errorf("with %d silent %v are free", i+1, got)
		}
	}
}

// holding opens an account of an incarnation that has so many slots.
func holding(t *testing.T, p *Pool, incarnation uint64, n float64, now time.Time) Grant {
	t.Helper()
	counts := []Count{{Budget: "s"}}
	g := says(t, p, Report{Holder: "g", Incarnation: incarnation, Sequence: 1, Counts: counts}, now)
	g = says(t, p, Report{
		Holder: "g", Incarnation: incarnation, Sequence: 2, Term: g.Term, Stamp: g.Stamp, Lease: time.Second, Counts: counts,
		Wants: []Want{{Lane: "default", Units: []Amount{{"s", n}}}},
	}, now)
	if got := units(g.Totals, "s"); got != n {
		t.Fatalf("%v slots were granted", got)
	}
	return g
}

// Calls end with their process: the next incarnation has their slots at once when it is sure to have come after, whether or not
// the lease of the one before has ended.
func TestSlotsOfAnEndedIncarnationAreFree(t *testing.T) {
	for name, later := range map[string]time.Duration{"within the lease": time.Second, "after it": ttl + 5*time.Second} {
		t.Run(name, func(t *testing.T) {
			p := New(slotsOf(6, 8), Leader{Epoch: 1, First: true}, origin)
			holding(t, p, 7, 6, origin)
			now := origin.Add(later)
			g := says(t, p, Report{Holder: "g", Incarnation: 8, Sequence: 1, Counts: []Count{{Budget: "s"}}}, now)
			if got := free(t, p, now); got != 0 {
				t.Fatalf("%v are free by a report that may be late", got)
			}
			now = now.Add(time.Second)
			says(t, p, Report{Holder: "g", Incarnation: 8, Sequence: 2, Term: g.Term, Stamp: g.Stamp, Lease: 5 * time.Second, Counts: []Count{{Budget: "s"}}}, now)
			if got := free(t, p, now); got != 6 {
				t.Errorf("%v are free", got)
			}
		})
	}
}

// A late report of an incarnation that has ended frees nothing of the one that lives.
func TestALateReportFreesNoSlots(t *testing.T) {
	p := New(slotsOf(6, 8), Leader{Epoch: 1, First: true}, origin)
	g := says(t, p, Report{Holder: "g", Incarnation: 7, Sequence: 1, Counts: []Count{{Budget: "s"}}}, origin)
	now := origin.Add(time.Second)
	holding(t, p, 8, 6, now)
	says(t, p, Report{Holder: "g", Incarnation: 7, Sequence: 2, Term: g.Term, Stamp: g.Stamp, Lease: time.Second, Counts: []Count{{Budget: "s"}}}, now)
	says(t, p, Report{Holder: "g", Incarnation: 6, Sequence: 1, Counts: []Count{{Budget: "s"}}}, now)
	if got := free(t, p, now.Add(time.Second)); got != 0 {
		t.Errorf("%v are free", got)
	}
}

// Who ends says so when its calls have ended, or are cut: its slots wait for no drain.
func TestSlotsOfWhoDrainsAreFree(t *testing.T) {
	p := New(slotsOf(6, 8), Leader{Epoch: 1, First: true}, origin)
	g := holding(t, p, 7, 6, origin)
	says(t, p, Report{Holder: "g", Incarnation: 7, Sequence: 3, Term: g.Term, Counts: []Count{{Budget: "s", Returned: 4}}, Draining: true}, origin)
	if got := free(t, p, origin.Add(time.Second)); got != 6 {
		t.Errorf("%v are free", got)
	}
}

// Slots of who is silent and does not come back are in use until its calls have ended for sure.
func TestSlotsOfWhoIsSilentAreInUse(t *testing.T) {
	p := New(slotsOf(6, 8), Leader{Epoch: 1, First: true}, origin)
	holding(t, p, 7, 6, origin)
	if got := free(t, p, origin.Add(drain)); got != 0 {
		t.Errorf("%v are free", got)
	}
	if got := free(t, p, origin.Add(2*drain)); got != 6 {
		t.Errorf("%v are free in the end", got)
	}
}

// Who may have how many slots goes by the lanes' guarantees first, then by the groups' weights and the lanes' priorities, and within a
// lane all holders have as much, whoever came first.
func TestSlotsAreDividedByLanesThenHolders(t *testing.T) {
	for name, c := range map[string]struct {
		lanes  []budget.Lane
		groups []budget.Group
		// wants are by holder: its lane.
		wants []string
		want  []float64
	}{
		"guarantees": {
			lanes: []budget.Lane{{Name: "a", Share: 0.6}, {Name: "b", Share: 0.4}},
			wants: []string{"a", "b", "b", "b", "b"}, want: []float64{12, 2, 2, 2, 2},
		},
		"weights of groups": {
			lanes:  []budget.Lane{{Name: "a", Group: "x"}, {Name: "b", Group: "y"}},
			groups: []budget.Group{{Name: "x", Weight: 3}, {Name: "y", Weight: 1}},
			wants:  []string{"b", "a", "a"}, want: []float64{5, 7.5, 7.5},
		},
		"priorities": {
			lanes: []budget.Lane{{Name: "a", Share: 0.1}, {Name: "b", Priority: 1}},
			wants: []string{"a", "b", "b"}, want: []float64{2, 9, 9},
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := slotsOf(20, 20)
			cfg.Lanes, cfg.Groups = c.lanes, c.groups
			p, now := New(cfg, Leader{Epoch: 1, First: true}, origin), origin
			keep := make([]float64, len(c.wants))
			grants := make([]Grant, len(c.wants))
			for round := range 4 {
				now = now.Add(500 * time.Millisecond)
				for i, lane := range c.wants {
					r := Report{
						Holder: "g" + string(rune('0'+i)), Incarnation: 1, Sequence: uint64(round + 1), Term: grants[i].Term, Stamp: grants[i].Stamp,
						Counts: []Count{{Budget: "s"}}, Wants: []Want{{Lane: lane, Units: []Amount{{"s", 50}}}},
					}
					if grants[i].Stamp > 0 {
						r.Lease = 9 * time.Second
					}
					grants[i] = says(t, p, r, now)
				}
			}
			now = now.Add(500 * time.Millisecond)
			p.Advance(now)
			sum := 0.0
			for i := range keep {
				g, _ := p.Grant(Key{"g" + string(rune('0'+i)), 1}, now)
				keep[i] = units(g.Expected, "s")
				if keep[i] < c.want[i]-0.5 || keep[i] > c.want[i]+0.5 {
					t.Errorf("%s may have %v of %v", g.Holder, keep[i], c.want[i])
				}
				sum += keep[i]
			}
			if sum != 20 {
				t.Errorf("all together may have %v: %v", sum, keep)
			}
		})
	}
}
