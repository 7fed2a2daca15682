// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"testing"
	"time"
)

// What one lane of a group cannot keep goes to the one that waits: the group has all of its part with it, and its part of what
// is lent beside that, while others want all there is. The one that waits need not have a share, nor the bucket name it.
func TestWhatALaneCannotKeepIsItsGroups(t *testing.T) {
	for name, unlent := range map[string]float64{"lends all": 0, "lends half": 0.5, "lends nothing": 1} {
		t.Run(name, func(t *testing.T) {
			cfg := Config{
				Patient: true,
				Buckets: []Bucket{{Name: "b", Rate: 1000, Capacity: 30_000, StartEmpty: true, Window: time.Minute}},
				Lanes: []Lane{
					{Name: "a1", Share: 0.7, Hold: -1, Group: "a"},
					{Name: "a2", Share: 0.1, Hold: -1, Group: "a"},
					{Name: "b1", Hold: -1, Group: "b"},
				},
				Groups: []Group{{Name: "a", Unlent: unlent}},
			}
			partOfGroup(t, cfg)
			cfg.Lanes[0].Share, cfg.Lanes[1].Share = 0.8, 0
			partOfGroup(t, cfg)
			partOfGroup(t, namedAlike(cfg))
		})
	}
}

// partOfGroup has the second and the third of the lanes want all there is. What the first keeps has filled before it counts.
func partOfGroup(t *testing.T, cfg Config) {
	t.Helper()
	s := New(cfg, origin)
	id, _ := s.Bucket("b")
	var waits [3]*Call
	var passed [3]float64
	now, counts := origin, origin.Add(time.Minute)
	for now.Before(counts.Add(5 * time.Minute)) {
		for lane := 1; lane < 3; lane++ {
			if c := waits[lane]; c == nil || c.Verdict().State == Admitted {
				if c != nil && now.After(counts) {
					passed[lane] += 100
				}
				waits[lane] = &Call{Lane: lane, Costs: []Cost{{Bucket: id, Amount: 100}}, Arrival: now}
				s.Submit(waits[lane], now)
			}
		}
		now = now.Add(20 * time.Millisecond)
		s.Advance(now, nil)
	}
	part := passed[1] / (cfg.Buckets[0].Rate * now.Sub(counts).Seconds())
	if part < 0.8 || part > 0.92 {
		t.Errorf("it has %.3f of the rate, want its 0.8 at the least, and no more than half of what is left beside it", part)
	}
}
