// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"testing"
	"time"
)

// A call that leaves what it could borrow to one before it goes as soon as it need not borrow there any more, though it still
// borrows of another bucket; and as soon as its group has passed on to it what its other lanes cannot keep. Whoever asks Next
// learns of both in time, and within a few steps.
func TestNextKnowsWhenACallNeedNotBorrow(t *testing.T) {
	shared := Bucket{Name: "a", Rate: 10, Capacity: 10, StartEmpty: true, Window: time.Minute}
	for name, c := range map[string]struct {
		cfg                 Config
		spent, first, other []float64
		want                time.Duration
	}{
		"its own part is there": {
			cfg: Config{
				Buckets: []Bucket{shared, {Name: "b", Rate: 0.1, Capacity: 10, Window: time.Minute}},
				Lanes:   []Lane{{Name: "x", Share: 0.1, Group: "before"}, {Name: "c", Share: 0.5, Group: "c"}},
			},
			first: []float64{5}, other: []float64{1, 1}, want: 200 * time.Millisecond,
		},
		"its group passes on": {
			cfg: Config{
				Buckets: []Bucket{{Name: "a", Rate: 10, Capacity: 10, Window: time.Minute}},
				Lanes: []Lane{
					{Name: "x", Share: 0.2, Hold: -1, Group: "before"}, {Name: "c", Share: 0.4, Hold: -1, Group: "c"},
					{Name: "idle", Share: 0.4, Hold: -1, Group: "c"}, {Name: "once", Hold: -1, Group: "once"},
				},
			},
			spent: []float64{9.5}, first: []float64{9}, other: []float64{1}, want: 125 * time.Millisecond,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.cfg.Patient = true
			s := New(c.cfg, origin)
			s.Submit(&Call{Lane: len(c.cfg.Lanes) - 1, Costs: costsOf(s, c.spent)}, origin)
			s.Submit(&Call{Lane: 0, Costs: costsOf(s, c.first)}, origin)
			call := &Call{Lane: 1, Costs: costsOf(s, c.other)}
			s.Submit(call, origin)
			now, steps := origin, 0
			for call.Verdict().State != Admitted && steps < 20 {
				now, _ = s.Next(now)
				s.Advance(now, nil)
				steps++
			}
			if late := now.Sub(origin) - c.want; late > time.Microsecond || late < -time.Microsecond {
				t.Errorf("it left after %v and %d steps, want %v", now.Sub(origin), steps, c.want)
			}
		})
	}
}

// costsOf names the buckets of a configuration in their order.
func costsOf(s *Scheduler, amounts []float64) []Cost {
	var out []Cost
	for i, amount := range amounts {
		id, _ := s.Bucket(string(rune('a' + i)))
		out = append(out, Cost{Bucket: id, Amount: amount})
	}
	return out
}
