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
