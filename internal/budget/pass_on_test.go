// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"testing"
	"time"
)

// What one lane of a group cannot keep goes to the one that waits: the group has all of its part with it, and its part of what
// is lent beside that, while others want all there is.
func TestWhatALaneCannotKeepIsItsGroups(t *testing.T) {
	const rate = 1000.0
	for name, unlent := range map[string]float64{"lends all": 0, "lends half": 0.5, "lends nothing": 1} {
		t.Run(name, func(t *testing.T) {
			s := New(Config{
				Patient: true,
				Buckets: []Bucket{{Name: "b", Rate: rate, Capacity: 30_000, StartEmpty: true, Window: time.Minute}},
				Lanes: []Lane{
					{Name: "a1", Share: 0.7, Hold: -1, Group: "a"}, {Name: "a2", Share: 0.1, Hold: -1, Group: "a"},
					{Name: "b1", Hold: -1, Group: "b"},
				},
				Groups: []Group{{Name: "a", Unlent: unlent}},
			}, origin)
			id, _ := s.Bucket("b")
			var waits [3]*Call
			var passed [3]float64
			now := origin
			for now.Before(origin.Add(5 * time.Minute)) {
				for lane := 1; lane < 3; lane++ {
					if c := waits[lane]; c == nil || c.Verdict().State == Admitted {
						if c != nil {
							passed[lane] += 100
						}
						waits[lane] = &Call{Lane: lane, Costs: []Cost{{Bucket: id, Amount: 100}}, Arrival: now}
						s.Submit(waits[lane], now)
					}
				}
				now = now.Add(20 * time.Millisecond)
				s.Advance(now, nil)
			}
			part := passed[1] / (rate * now.Sub(origin).Seconds())
			if part < 0.8 || part > 0.92 {
				t.Errorf("it has %.3f of the rate, want its 0.8 at the least, and no more than half of what is left beside it", part)
			}
		})
	}
}
