// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"testing"
	"time"
)

// What a counted call asks for is held like any other's, and is no further demand.
func TestCountedCallsAreNoFurtherDemand(t *testing.T) {
	s := New(one(10, 1), time.Unix(0, 0))
	for i, c := range []struct {
		counted bool
		want    float64
	}{{false, 3}, {true, 3}, {false, 6}} {
		call := &Call{Costs: []Cost{{Bucket: 0, Amount: 3}}, Counted: c.counted}
		if v := s.Submit(call, time.Unix(0, 0)); v.State != Admitted {
			t.Fatalf("call %d: %+v", i, v)
		}
		var snap Snapshot
		s.Snapshot(time.Unix(0, 0), &snap)
		b := snap.Buckets[0]
		if b.Offered != c.want || b.Reserved != float64(3*(i+1)) {
			t.Errorf("after call %d: %v offered, %v reserved", i, b.Offered, b.Reserved)
		}
	}
}
