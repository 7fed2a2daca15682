// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
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
