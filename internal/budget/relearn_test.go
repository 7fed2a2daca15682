// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"testing"
	"time"
)

// TestHeadsKeepWhatTheyCollectedWhenALimitIsLearnedAnew: setting another bucket's limits cuts nothing of what a
// committed head has collected, on any bucket.
func TestHeadsKeepWhatTheyCollectedWhenALimitIsLearnedAnew(t *testing.T) {
	start := time.Unix(0, 0)
	s := New(Config{
		Buckets: []Bucket{{Name: "tokens", Rate: 400_000.0 / 60, Capacity: 400_000, Window: time.Minute, StartEmpty: true}},
		Lanes:   []Lane{{Name: "bulk", Share: 0.4}, {Name: "default", Share: 0.6}},
	}, start)
	tokens, _ := s.Bucket("tokens")
	mirror := func(rate float64, now time.Time) {
		s.Ensure(Bucket{Name: "mirror", Rate: rate, Capacity: 400_000, Window: time.Minute}, now)
	}
	mirror(6000, start)
	big := &Call{Lane: 0, Costs: []Cost{{Bucket: tokens, Amount: 60_000, AtLeast: 60_000}}}
	if v := s.Submit(big, start); v.State != Queued {
		t.Fatalf("%+v", v)
	}
	// The other lane takes all that nobody claims, so that the head lives on its own credit alone.
	for tick := time.Duration(0); tick < 22_500*time.Millisecond; tick += 300 * time.Millisecond {
		now := start.Add(tick)
		small := &Call{Lane: 1, Costs: []Cost{{Bucket: tokens, Amount: 2000, AtLeast: 2000}}}
		s.Submit(small, now)
		s.Advance(now, nil)
		if tick > 20*time.Second {
			mirror(6000+tick.Seconds(), now.Add(100*time.Millisecond)) // nothing else happens just then
		}
	}
	if v := big.Verdict(); v.State != Queued {
		t.Fatalf("it went early: %+v", v)
	}
	s.Advance(start.Add(22_500*time.Millisecond), nil)
	if v := big.Verdict(); v.State != Admitted {
		t.Errorf("after 60,000/(0.4·6,667) s the call is %+v", v)
	}
}
