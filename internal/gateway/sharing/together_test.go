// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budget/pool"
)

// However many gateways there are, what they collect of calls that are not granted whole is no more than half of all, unless
// such calls are small ones.
func TestWhatAllGatewaysCollectHasRoom(t *testing.T) {
	for _, c := range []struct {
		rate, capacity, call float64
		holders              int
		want                 float64
	}{
		{1000, 60_000, 100, 4, 1000},
		{1000, 60_000, 100, 100, 300},
		{1000, 2000, 100, 4, 250},
		{1000, 2000, 100, 100, 100},
	} {
		if got := smallOf(pool.Budget{Rate: c.rate, Capacity: c.capacity, SmallCall: c.call, MaxHolders: c.holders}); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// A lane asks for more large calls at once while they are granted soon, within a bound, and for one where they are not.
func TestLargeCallsAreAskedForTogetherWhereTheyAreGrantedSoon(t *testing.T) {
	l, now := newLane(1), began
	for range 20 {
		l.askedAt = now
		now = now.Add(prompt)
		l.granted(now)
	}
	if l.together != mostTogether {
		t.Errorf("%d at once", l.together)
	}
	l.granted(now.Add(time.Hour)) // nothing was asked for
	for range 20 {
		l.askedAt = now
		now = now.Add(prompt + 1)
		l.granted(now)
	}
	if l.together != 0 {
		t.Errorf("%d at once while others wait", l.together)
	}
}

// Calls that are asked for together cost no more than a part of an interval's refill, and have one number.
func TestABundleIsBounded(t *testing.T) {
	m := &Member{limits: []limit{{rate: 1000}}}
	lane := newLane(1)
	lane.together = 10
	for range 8 {
		lane.large = append(lane.large, &place{where: aside, costs: []float64{60}})
	}
	m.bundle(&lane, lane.large[0])
	for i, p := range lane.large {
		want := uint64(0)
		if i < 4 {
			want = 1
		}
		if p.number != want {
			t.Errorf("call %d has number %d, want %d", i, p.number, want)
		}
	}
	d := pool.Demand{}
	m.limits[0].capacity = 1e6
	m.bulk(&d, &lane, lane.large[0])
	if d.Bulk != 1 || d.Cost[0].Units != 240 {
		t.Errorf("%+v", d)
	}
}
