// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"testing"
	"time"
)

// What one lane of a group cannot keep goes to the one that waits: a call goes within c/(g·R), not c/(r·R), while others
// borrow all they can.
func TestWhatALaneCannotKeepIsItsGroups(t *testing.T) {
	const rate, large = 1000.0, 9000.0
	for name, unlent := range map[string]float64{"lends all": 0, "lends half": 0.5, "lends nothing": 1} {
		t.Run(name, func(t *testing.T) {
			s := New(Config{
				Patient: true,
				Buckets: []Bucket{{Name: "b", Rate: rate, Capacity: 30_000, StartEmpty: true, Window: time.Minute}},
				Lanes: []Lane{
					{Name: "a1", Share: 0.7, Hold: -1, Group: "a"}, {Name: "a2", Share: 0.2, Hold: -1, Group: "a"},
					{Name: "b1", Share: 0.1, Hold: -1, Group: "b"},
				},
				Groups: []Group{{Name: "a", Unlent: unlent}},
			}, origin)
			id, _ := s.Bucket("b")
			submit := func(lane int, amount float64, now time.Time) *Call {
				c := &Call{Lane: lane, Costs: []Cost{{Bucket: id, Amount: amount}}, Arrival: now}
				s.Submit(c, now)
				return c
			}
			// The other group takes all that it can get for a long time.
			now := origin
			var theirs *Call
			play := func(until time.Time, end func() bool) {
				for ; now.Before(until) && !end(); now = now.Add(50 * time.Millisecond) {
					if s.Advance(now, nil); theirs == nil || theirs.Verdict().State != Queued {
						theirs = submit(2, 100, now)
					}
				}
			}
			play(origin.Add(2*time.Minute), func() bool { return false })
			asked := now
			mine := submit(1, large, now)
			play(now.Add(time.Minute), func() bool { return mine.Verdict().State == Admitted })
			bound := time.Duration(large/(0.9*rate)*1e9) + 100*time.Millisecond
			if took := now.Sub(asked); mine.Verdict().State != Admitted || took > bound {
				t.Errorf("it is %v after %v, want admitted within %v", mine.Verdict().State, took, bound)
			}
		})
	}
}
