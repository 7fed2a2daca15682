// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"math/rand"
	"testing"
	"time"
)

// moment is what is to be known in time: a call comes after others.
type moment struct {
	cfg Config
	// before prepares the scheduler and returns when the call comes.
	before func(s *Scheduler) time.Time
	lane   int
	costs  []float64
	// by is when it has gone.
	by time.Duration
}

var (
	drained = Bucket{Name: "a", Rate: 10, Capacity: 10, StartEmpty: true, Window: time.Minute}
	filled  = Bucket{Name: "a", Rate: 10, Capacity: 10, Window: time.Minute}
)

// moments are those in which a call may go sooner than by its lane's rate, or what those before it lack.
func moments() map[string]moment {
	return map[string]moment{
		"its own part is there, and it need not borrow there": {
			cfg: Config{
				Buckets: []Bucket{drained, {Name: "b", Rate: 0.1, Capacity: 10, Window: time.Minute}},
				Lanes:   []Lane{{Name: "x", Share: 0.1, Group: "before"}, {Name: "c", Share: 0.5, Group: "c"}},
			},
			before: func(s *Scheduler) time.Time { asks(s, 0, origin, 5); return origin },
			lane:   1, costs: []float64{1, 1}, by: 200 * time.Millisecond,
		},
		"its group passes on": {
			cfg: Config{
				Buckets: []Bucket{filled},
				Lanes: []Lane{
					{Name: "x", Share: 0.2, Hold: -1, Group: "before"},
					{Name: "c", Share: 0.4, Hold: -1, Group: "c"},
					{Name: "idle", Share: 0.4, Hold: -1, Group: "c"},
					{Name: "once", Hold: -1, Group: "once"},
				},
			},
			before: func(s *Scheduler) time.Time { asks(s, 3, origin, 9.5); asks(s, 0, origin, 9); return origin },
			lane:   1, costs: []float64{1}, by: 125 * time.Millisecond,
		},
		// After half a second nobody owes anything any more; until then nobody keeps anything.
		"another lane owes, and is forgiven": {
			cfg: Config{
				Buckets: []Bucket{drained},
				Lanes:   []Lane{{Name: "c", Share: 0.2, Hold: -1}, {Name: "owes", Share: 0.4, Hold: 2 * time.Second}},
			},
			before: func(s *Scheduler) time.Time { s.Lower(0, -5, origin); return origin },
			costs:  []float64{4}, by: time.Second * 7 / 6,
		},
		// Who comes before it needs 7 of the second one, of which a lane of the third group collects what the other passes on.
		"who comes before it begins to lack what it does not need": {
			cfg: Config{
				Buckets: []Bucket{{Name: "a", Rate: 1, Capacity: 10, Window: time.Minute}, {Name: "b", Rate: 10, Capacity: 10, Window: time.Minute}},
				Lanes: []Lane{
					{Name: "x", Hold: -1, Group: "before"},
					{Name: "c", Hold: -1, Group: "c"},
					{Name: "passes", Share: 0.3, Hold: -1, Group: "g"},
					{Name: "collects", Hold: -1, Group: "g"},
					{Name: "once", Hold: -1, Group: "once"},
				},
			},
			before: func(s *Scheduler) time.Time {
				asks(s, 4, origin, 5)
				asks(s, 3, origin, 10, 5)
				asks(s, 0, origin, 9, 7)
				return origin
			},
			lane: 1, costs: []float64{2}, by: time.Second,
		},
		// What was collected in the second one for a call that does not come back is given up.
		"who comes before it loses what it could borrow": {
			cfg: Config{
				Buckets: []Bucket{{Name: "a", Rate: 1, Capacity: 10, Window: time.Minute}, {Name: "b", Rate: 10, Capacity: 10, Limit: 20, Window: time.Minute}},
				Lanes: []Lane{
					{Name: "x", Hold: -1, Group: "before"},
					{Name: "c", Hold: -1, Group: "c"},
					{Name: "collects", Share: 0.2, Hold: -1, Group: "g"},
					{Name: "once", Hold: -1, Group: "once"},
				},
			},
			before: func(s *Scheduler) time.Time {
				asks(s, 3, origin, 5)
				s.Submit(&Call{Lane: 3, Costs: []Cost{{Bucket: 1, Amount: 12, AtLeast: 12}}, Deadline: origin.Add(100 * time.Millisecond)}, origin)
				at := origin.Add(500 * time.Millisecond)
				asks(s, 2, at, 10, 5)
				asks(s, 0, at, 9, 7)
				return at
			},
			lane: 1, costs: []float64{2}, by: 1750 * time.Millisecond,
		},
		// Who comes before it finds a cap used up, and is told so once the other bucket has what it needs: no moment before counts.
		"who comes before it lacks a cap": {
			cfg: Config{
				Buckets: []Bucket{
					{Name: "a", Rate: 1, Capacity: 10, Window: time.Minute, Shares: &map[string]float64{"c": 0.5}},
					{Name: "day", Rate: 0.0001, Capacity: 10, Window: 24 * time.Hour, Shares: &map[string]float64{"owns": 0.5}},
				},
				Lanes: []Lane{{Name: "x", Group: "before"}, {Name: "c", Hold: 4 * time.Second, Group: "c"}, {Name: "owns"}, {Name: "once", Group: "once"}},
			},
			before: func(s *Scheduler) time.Time {
				at := origin.Add(4 * time.Second)
				asks(s, 3, at, 6)
				asks(s, 0, at, 9, 4)
				asks(s, 3, at, 0, 2)
				return at
			},
			lane: 1, costs: []float64{1, 1}, by: 6 * time.Second,
		},
		// What it lacks comes at the cost of the other, which keeps 5 from 0.4 s on: 5t·3/(5+5t) = 1.
		"the bucket fills no further, and another keeps all of it": {
			cfg: Config{
				Patient: true, Buckets: []Bucket{drained},
				Lanes: []Lane{{Name: "c", Share: 0.5, Hold: time.Minute}, {Name: "keeps", Share: 0.5, Hold: time.Minute}},
			},
			before: func(s *Scheduler) time.Time { return brims(s, 0, 3) },
			costs:  []float64{1}, by: 500 * time.Millisecond,
		},
		// From 0.4 s on the other of its group passes on, and both others keep all that they do: (5t−1)·4.5/(6.5+5t) = 1.
		"the bucket fills no further, and its group passes on": {
			cfg: Config{
				Patient: true, Buckets: []Bucket{drained},
				Lanes: []Lane{
					{Name: "passes", Share: 0.25, Hold: time.Minute, Group: "g"},
					{Name: "c", Share: 0.25, Hold: time.Minute, Group: "g"},
					{Name: "keeps", Share: 0.5, Hold: time.Minute},
				},
			},
			before: func(s *Scheduler) time.Time { return brims(s, 1, 1.5) },
			lane:   1, costs: []float64{1}, by: 628_571_429,
		},
		// Nine parts of ten are lost while their owner keeps all that it can: a moment that counts on them comes again and again.
		"most of the refill is lost": {
			cfg: Config{
				Buckets: []Bucket{filled},
				Lanes:   []Lane{{Name: "idle", Share: 0.9, Hold: -1, Group: "own"}, {Name: "c", Share: 0.1, Hold: -1}},
				Groups:  []Group{{Name: "own", Unlent: 1}},
			},
			before: func(s *Scheduler) time.Time { at := origin.Add(time.Second); asks(s, 1, at, 1); return at },
			lane:   1, costs: []float64{0.5}, by: 500 * time.Millisecond,
		},
	}
}

// brims has a bucket fill to 6 of 10, a lane take all that it has of that, and the bucket fill no further.
func brims(s *Scheduler, lane int, amount float64) time.Time {
	s.FillTo(0, 6, origin)
	at := origin.Add(10 * time.Second)
	s.Advance(at, nil)
	asks(s, lane, at, amount)
	s.FillTo(0, 6-amount, at)
	return at
}

// asks submits a call of a lane, which takes amounts of the buckets in their order.
func asks(s *Scheduler, lane int, at time.Time, amounts ...float64) *Call {
	c := &Call{Lane: lane}
	for i, amount := range amounts {
		c.Costs = append(c.Costs, Cost{Bucket: BucketID(i), Amount: amount})
	}
	s.Submit(c, at)
	return c
}

// Whoever asks Next learns in time when a call may go, and within a few steps.
func TestNextKnowsWhatEndsAWait(t *testing.T) {
	for name, c := range moments() {
		t.Run(name, func(t *testing.T) {
			s := New(c.cfg, origin)
			came := c.before(s)
			call := asks(s, c.lane, came, c.costs...)
			now, steps := came, 0
			for call.Verdict().State != Admitted && steps < 20 {
				now, _ = s.Next(now)
				s.Advance(now, nil)
				steps++
			}
			if took := now.Sub(came); steps > 10 || took > c.by+time.Microsecond || took < c.by/2 {
				t.Errorf("it left after %v and %d steps, want it to by %v", took, steps, c.by)
			}
		})
	}
}

// A bucket that fills to a level alone brings nothing more by itself: nothing is due until somebody lets it fill.
func TestNothingIsDueWhereABucketFillsNoFurther(t *testing.T) {
	s := New(Config{Patient: true, Buckets: []Bucket{drained}, Lanes: []Lane{{Name: "c", Share: 0.5, Hold: -1}}}, origin)
	s.FillTo(0, 3, origin)
	call := asks(s, 0, origin, 5)
	now := origin.Add(time.Second)
	s.Advance(now, nil)
	if at, due := s.Next(now); due {
		t.Errorf("at a level of 3, which is all that comes, 5 are due at %v", at.Sub(origin))
	}
	s.FillTo(0, 10, now)
	at, due := s.Next(now)
	if s.Advance(at, nil); !due || at.Sub(now) != 200*time.Millisecond || call.Verdict().State != Admitted {
		t.Errorf("with room for more it is due after %v, %t, and is %+v then", at.Sub(now), due, call.Verdict())
	}
}

// What a bucket fills to bounds it wherever that is, exactly at its capacity and above it too: a call for more than the capacity
// goes only where the bucket may fill so far.
func TestABucketFillsToWhatItIsTold(t *testing.T) {
	for _, c := range []struct{ to, level float64 }{{-1, 0}, {0, 0}, {9, 9}, {10, 10}, {11, 11}, {12, 12}, {largestNumber, 12}} {
		b := drained
		b.Limit = 20
		s := New(Config{Patient: true, Buckets: []Bucket{b}, Lanes: []Lane{{Name: "c", Share: 0.5, Hold: -1}}}, origin)
		s.FillTo(0, c.to, origin)
		call := &Call{Costs: []Cost{{Bucket: 0, Amount: 12, AtLeast: 12}}}
		s.Submit(call, origin)
		now := origin.Add(time.Minute)
		if level := s.Level(0, now); level != c.level {
			t.Errorf("filled to %v, it has %v, want %v", c.to, level, c.level)
		}
		if at, due := s.Next(origin); due != (c.level == 12) {
			t.Errorf("filled to %v, 12 are due at %v, %t", c.to, at.Sub(origin), due)
		}
		if s.Advance(now, nil); (call.Verdict().State == Admitted) != (c.level == 12) {
			t.Errorf("filled to %v, 12 are %v", c.to, call.Verdict().State)
		}
	}
}

// A call for exactly what others leave of a full bucket goes when it is full, however the numbers round.
func TestWhatIsLeftOfAFullBucketIsEnough(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for range 2000 {
		capacity, fills := []float64{5, 10, 100, 4750, 400_000}[r.Intn(5)], []float64{1, 3, 7, 11, 13, 60, 86}[r.Intn(7)]
		one, two := float64(r.Intn(40))/100, float64(r.Intn(40))/100
		s := New(Config{
			Patient: true, Buckets: []Bucket{{Name: "a", Capacity: capacity, Rate: capacity / fills, Window: time.Minute, StartEmpty: true}},
			Lanes: []Lane{{Name: "c", Hold: -1}, {Name: "one", Share: one, Hold: time.Hour}, {Name: "two", Share: two, Hold: time.Hour}},
		}, origin)
		// The others have all that they keep just when it is full.
		came := origin.Add(time.Duration(r.Float64() * fills * 1e9))
		call := asks(s, 0, came, capacity-one*capacity-two*capacity)
		at, _ := s.Next(came)
		s.Advance(at, nil)
		if v := call.Verdict(); v.State != Admitted || at.Sub(origin).Seconds() > fills+1e-6 {
			t.Errorf("%v in %v s, of which %v and %v are kept: at %v %+v", capacity, fills, one, two, at.Sub(origin), v)
		}
	}
}

// Where a bucket fills no further no lane is full for longer than a moment, whatever passes on to whom: that is no reason to look
// again and again.
func TestABucketThatFillsNoFurtherIsNotPolled(t *testing.T) {
	lanes := []Lane{
		{Name: "a1", Share: 0.3, Group: "a"},
		{Name: "a2", Share: 0.2, Group: "a"},
		{Name: "c1", Share: 0.4, Group: "c"},
		{Name: "c2", Share: 0.1, Group: "c"},
	}
	for _, level := range []float64{1, 3, 5, 8, 9} {
		for _, heads := range [][]int{{0}, {2}, {0, 1}, {2, 0}, {0, 1, 2}, {3, 2, 1, 0}} {
			s := New(Config{Patient: true, Buckets: []Bucket{drained}, Lanes: lanes}, origin)
			s.FillTo(0, level, origin)
			for _, lane := range heads {
				asks(s, lane, origin, 9.5)
			}
			if n := wakeUps(s, origin, time.Minute); n > 5 {
				t.Errorf("at a level of %v, with calls of %v: %d moments in a minute", level, heads, n)
			}
		}
	}
}

// wakeUps counts the moments in a time at which something is due, as an owner looks that does so a hundred times a second at the
// most. Those at which something happens do not count.
func wakeUps(s *Scheduler, now time.Time, d time.Duration) (n int) {
	for end := now.Add(d); ; n++ {
		at, due := s.Next(now)
		if now = later(at, now.Add(10*time.Millisecond)); !due || now.After(end) {
			return n
		}
		active := len(s.active)
		if decided := s.Advance(now, nil); len(decided) > 0 || len(s.active) != active {
			n--
		}
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
