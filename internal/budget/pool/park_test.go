// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"math"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

// busy is a pool of 1,000 a second and 20,000 with a lane for large calls, which has four tenths, beside one that takes whatever it
// gets and spends it.
func busy(t *testing.T) *pair {
	t.Helper()
	x := newPair(t, Config{
		MaxHolders: 2,
		Budgets:    []Budget{{Name: "b", Rate: 1000, Capacity: 20_000, SmallCall: 500, Window: time.Minute}},
		Lanes:      []budget.Lane{{Name: "bulk", Share: 0.4}, {Name: "default", Share: 0.6}},
	}, Leader{Epoch: 1, First: true})
	x.p.Published(x.p.State(x.now))
	return x
}

// eight asks for a large call of 8,000.
func eight(number uint64) Demand {
	return Demand{Lane: "bulk", Bulk: number, Cost: []Amount{{"b", 8000}}}
}

// goOn goes on for a time, in which what is there for small calls is spent, and says after which the call was granted, if it was.
// What is to be published is that a while later.
func (x *pair) goOn(d, publish time.Duration, demand Demand) (granted time.Duration) {
	x.Helper()
	began, stale := x.now, time.Time{}
	for x.now.Sub(began) < d {
		x.wait(50 * time.Millisecond)
		x.tell(demand, Demand{Lane: "default", Small: []Amount{{"b", 4000}}})
		if x.p.Stale() && stale.IsZero() {
			stale = x.now
		}
		if !stale.IsZero() && x.now.Sub(stale) >= publish {
			x.p.Published(x.p.State(x.now))
			stale = time.Time{}
			x.p.Advance(x.now)
			x.answer()
		}
		if _, newest := x.h.Granted("bulk", "b"); newest >= demand.Bulk {
			return x.now.Sub(began)
		}
		x.h.Charge("b", max(0, x.h.Balance("b", x.now)), x.now)
		if f := x.p.Figures(x.now).Budgets[0]; f.Level+f.Held > 20_000+1e-6 {
			x.Fatalf("level %v and %v held", f.Level, f.Held)
		}
	}
	return 0
}

// A call that was admitted and waits for more to be allowed outstanding keeps what its lane collected for it: it goes as soon as
// that is published, and its lane does not begin anew.
func TestAGrantThatWaitsToBePublishedIsKept(t *testing.T) {
	for _, publish := range []time.Duration{0, 300 * time.Millisecond, 2 * time.Second} {
		x := busy(t)
		// Something is out, so that both together exceed what was published.
		x.p.purses[0].most = 7000
		if got := x.goOn(time.Minute, publish, eight(1)); got < 19*time.Second || got > 20*time.Second+publish+100*time.Millisecond {
			t.Errorf("published after %v: granted after %v of 8,000 at 400 a second", publish, got)
		}
	}
}

// What waits to be published and is not wanted any longer is back in P, and nothing is kept of it.
func TestWhatIsParkedComesBackWhenItIsNotWanted(t *testing.T) {
	for name, leave := range map[string]func(x *pair){
		"no longer wanted": func(x *pair) { x.tell() },
		"another instead":  func(x *pair) { x.tell(Demand{Lane: "bulk", Bulk: 2, Cost: []Amount{{"b", 100}}}) },
		"silence":          func(x *pair) { x.wait(ttl + time.Second) },
		"drained": func(x *pair) {
			r := x.h.Drain(x.now)
			if err := x.p.Report(&r, x.now); err != nil {
				x.Fatal(err)
			}
			x.p.Advance(x.now)
		},
		"the budget goes": func(x *pair) {
			cfg := x.p.cfg
			cfg.Budgets = []Budget{{Name: "c", Rate: 1, Capacity: 1}}
			if !x.p.Apply(cfg, x.now) {
				x.Fatal("the budget cannot go")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := busy(t)
			x.p.purses[0].most = 7000
			for range 20 {
				x.tell()
				x.wait(time.Second)
			}
			x.tell(eight(1))
			before := x.p.Figures(x.now).Budgets[0]
			if len(x.p.parked) != 1 || x.p.purses[0].kept != 8000 || before.Held != 0 {
				t.Fatalf("%d are parked, %v kept: %+v", len(x.p.parked), x.p.purses[0].kept, before)
			}
			x.now = x.now.Add(time.Millisecond)
			leave(x)
			held := x.p.Held(Key{"h", 1}, "b", x.now)
			if len(x.p.parked) != 0 || x.p.purses[0].kept != 0 {
				t.Errorf("%d are parked, %v kept", len(x.p.parked), x.p.purses[0].kept)
			}
			if level := x.p.sched.Level(x.p.purses[0].id, x.now); level+held < min(before.Level, x.p.room(x.p.purses[0]))-1e-6 {
				t.Errorf("level %v and %v held, of %v", level, held, before.Level)
			}
		})
	}
}

// A claim that is parked is granted within P alone, whatever P or the capacity has become meanwhile: else holders would have more
// than the provider is said to have, than the edited B', or than is left beside who is silent. What P does not suffice for any
// longer waits anew.
func TestWhatIsParkedIsGrantedWithinP(t *testing.T) {
	for name, c := range map[string]struct {
		cost  float64
		falls func(x *pair)
		left  float64
	}{
		"the provider has less": {8000, func(x *pair) { x.says(1000, eight(1)) }, 1000},
		"an edit":               {8000, func(x *pair) { x.shrink(2000) }, 2000},
		"an edit to little less": {
			// It is within the new capacity, and above P, which shrank with it.
			8000, func(x *pair) {
				x.says(10_000, eight(1))
				x.shrink(10_000)
			}, 5000,
		},
		"silence": {18_000, func(x *pair) { x.p.Expect("other", x.now) }, 15_000},
		"two of them": {8000, func(x *pair) {
			other := Demand{Lane: "default", Bulk: 1, Cost: []Amount{{"b", 7500}}}
			x.tell(eight(1), other)
			if len(x.p.parked) != 2 || x.p.purses[0].kept != 15_500 {
				x.Fatalf("%d are parked, %v kept", len(x.p.parked), x.p.purses[0].kept)
			}
			x.says(9000, eight(1), other)
		}, 9000},
	} {
		t.Run(name, func(t *testing.T) {
			x := busy(t)
			if name == "silence" {
				cfg := x.p.cfg
				cfg.Budgets = []Budget{{Name: "b", Rate: 1000, Capacity: 20_000, SmallCall: 5000, Window: time.Minute}}
				x = newPair(t, cfg, Leader{Epoch: 1, First: true})
				x.p.Published(x.p.State(x.now))
			}
			x.p.purses[0].most = 7000
			for range 25 {
				x.tell()
				x.wait(time.Second)
			}
			x.tell(Demand{Lane: "bulk", Bulk: 1, Cost: []Amount{{"b", c.cost}}})
			if len(x.p.parked) != 1 || x.p.purses[0].kept != c.cost {
				t.Fatalf("%d are parked, %v kept", len(x.p.parked), x.p.purses[0].kept)
			}
			c.falls(x)
			before := x.p.Figures(x.now).Budgets[0]
			if before.Level > c.left+1 || before.Level < c.left-1 || before.Held != 0 {
				t.Errorf("%+v: want a level of %v", before, c.left)
			}
			x.p.Published(State{Budgets: []BudgetState{{Name: "b", Outstanding: 20_000}}})
			x.p.Advance(x.now)
			after := x.p.Figures(x.now).Budgets[0]
			if after.Held > before.Level+1e-6 || after.Level < -1e-6 {
				t.Errorf("granted %v of %v, which leaves %v", after.Held, before.Level, after.Level)
			}
			if b := x.p.purses[0]; len(x.p.parked) != 0 || b.kept != 0 || x.p.sched.Level(b.id, x.now) != after.Level {
				t.Errorf("%d are parked, %v kept, beside %v of %v", len(x.p.parked), b.kept, x.p.sched.Level(b.id, x.now), after.Level)
			}
			// What waits anew goes in the end.
			x.p.Forget("other", x.now)
			if number, capacity := x.goAgain(c.cost), x.p.purses[0].Capacity; number != 1 {
				t.Errorf("%v of %v never went", c.cost, capacity)
			}
		})
	}
}

// A claim that waits in the queue takes no more than an edited capacity, as the scheduler counts it.
func TestWhatWaitsIsGrantedWithinAnEditedCapacity(t *testing.T) {
	x := busy(t)
	for range 3 {
		x.wait(time.Second)
		x.tell(eight(1))
	}
	if len(x.p.bulks) != 1 {
		t.Fatalf("%d wait", len(x.p.bulks))
	}
	x.shrink(2000)
	for range 100 {
		x.wait(20 * time.Millisecond)
		if f := x.p.Figures(x.now).Budgets[0]; f.Held > 2000 || f.Level+f.Held > 2000+1e-6 || f.Level < -1e-6 {
			t.Fatalf("%+v", f)
		}
	}
	if held := x.p.Held(Key{"h", 1}, "b", x.now); held != 2000 {
		t.Errorf("%v are held: a call above the capacity goes with all of it", held)
	}
}

// says has the holder say what the provider has, and want what it wanted; nothing is granted yet.
func (x *pair) says(most float64, demands ...Demand) {
	x.Helper()
	r := x.h.Report(demands, x.now)
	r.Seen = []Amount{{"b", most}}
	if err := x.p.Report(&r, x.now); err != nil {
		x.Fatal(err)
	}
}

// shrink edits the capacity.
func (x *pair) shrink(capacity float64) {
	x.Helper()
	cfg := x.p.cfg
	cfg.Budgets = []Budget{x.p.purses[0].Budget}
	cfg.Budgets[0].Capacity, cfg.Budgets[0].Outstanding = capacity, 0
	if !x.p.Apply(cfg, x.now) {
		x.Fatal("it cannot be edited")
	}
}

// goAgain goes on until the large call was granted, if it is, and says which was.
func (x *pair) goAgain(cost float64) uint64 {
	x.Helper()
	for range 60 {
		x.wait(time.Second)
		x.tell(Demand{Lane: "bulk", Bulk: 1, Cost: []Amount{{"b", cost}}})
		x.p.Published(x.p.State(x.now))
		x.p.Advance(x.now)
		x.answer()
		f := x.p.Figures(x.now).Budgets[0]
		if f.Level < -1e-6 {
			x.Fatalf("%+v", f)
		}
		if _, newest := x.h.Granted("bulk", "b"); newest > 0 {
			return newest
		}
	}
	return 0
}

// The next call of a lane has what was collected for one that left: as in a bucket of its own, which is as large as what waits.
func TestWhatWasCollectedIsForTheNextCall(t *testing.T) {
	x := busy(t)
	if got := x.goOn(15*time.Second, 0, eight(1)); got != 0 {
		t.Fatalf("granted after %v", got)
	}
	lacked := x.p.sched.Lacks(x.p.purses[0].id, 0, x.now)
	if got := x.goOn(time.Minute, 0, eight(2)); math.Abs(got.Seconds()-lacked/400) > 0.2 || got > 6*time.Second {
		t.Errorf("granted after %v, when %v were lacking", got, lacked)
	}
}
