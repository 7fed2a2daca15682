// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"testing"
	"time"
)

// TestALaneWithoutPlacesNeverWaits, while retries of it do: they were accepted before.
func TestALaneWithoutPlacesNeverWaits(t *testing.T) {
	now := time.Unix(0, 0)
	s := New(Config{
		Buckets: []Bucket{{Name: "b", Rate: 1, Capacity: 10, Limit: 10}},
		Lanes:   []Lane{{Name: "now", Share: 0.5, MaxDepth: -1}, {Name: "default", Share: 0.5}},
	}, now)
	id, _ := s.Bucket("b")
	call := func(lane int) *Call {
		return &Call{Lane: lane, Arrival: now, Deadline: now.Add(time.Hour), Costs: []Cost{{Bucket: id, Amount: 10, AtLeast: 10}}}
	}
	first, second, other := call(0), call(0), call(1)
	if v := s.Submit(first, now); v.State != Admitted {
		t.Fatalf("from a full bucket: %+v", v)
	}
	if v := s.Submit(second, now); v.State != Refused || v.Reason != ReasonQueueFull || v.Wait <= 0 {
		t.Errorf("where none may wait: %+v", v)
	}
	s.Settle(first, []Cost{{Bucket: id, Amount: 10}}, now)
	if v := s.Retry(first, now, now); v.State != Queued {
		t.Errorf("a retry: %+v", v)
	}
	if v := s.Submit(other, now); v.State != Queued {
		t.Errorf("another lane: %+v", v)
	}
	var snapshot Snapshot
	s.Snapshot(now, &snapshot)
	if got := snapshot.Lanes[0].MaxDepth; got != 0 {
		t.Errorf("%d may wait", got)
	}
}
