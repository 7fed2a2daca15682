// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"math"
	"testing"
	"time"
)

func TestRaiseLiftsALevelToAFact(t *testing.T) {
	for name, tc := range map[string]struct{ level, fact, want float64 }{
		"lifts":                      {100, 400, 400},
		"never lowers":               {100, 50, 100},
		"never above the capacity":   {100, 5000, 1000},
		"ends a debt":                {-200, 300, 300},
		"part of a debt":             {-200, -50, -50},
		"NaN is no fact":             {100, math.NaN(), 100},
		"infinity is the capacity":   {100, math.Inf(1), 1000},
		"minus infinity is no fact":  {100, math.Inf(-1), 100},
		"the same changes nothing":   {100, 100, 100},
		"zero lifts what is below 0": {-1, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := one(1000, 10)
			cfg.Lanes = []Lane{{Name: "x", Share: 0.3}, {Name: "y", Share: 0.7}}
			m := newSim(t, cfg)
			m.runTo(time.Minute)
			m.s.Lower(m.id("b"), tc.level, m.now)
			m.s.Raise(m.id("b"), tc.fact, m.now)
			if got := m.level("b"); got != tc.want {
				t.Errorf("level %v, want %v", got, tc.want)
			}
			m.checkSound(true)
		})
	}
}

// A large call goes as soon as what is reported suffices; what is lifted is nobody's credit.
func TestRaiseReleasesALargeCallAtOnce(t *testing.T) {
	m := newSim(t, canonical(true, chatAndBulk...))
	c := m.tokens(0, 60_000, 0, time.Minute)
	m.submit(0, c)
	m.runTo(time.Second)
	m.s.Raise(m.id("input"), 70_000, m.now)
	if next, ok := m.s.Next(m.now); !ok || !next.Equal(m.now) {
		t.Fatalf("next is %v %v, want now", next.Sub(origin), ok)
	}
	m.runTo(time.Second)
	if c.left != time.Second || m.level("input") != 10_000 {
		t.Errorf("left at %v, the level is %v", c.left, m.level("input"))
	}
}

// What came before the fact is part of it: its refund lifts the level no further. What came after is given back.
func TestRefundsFromBeforeARaiseLiftNothing(t *testing.T) {
	m := newSim(t, one(1000, 10))
	m.onAdmit = func(*simCall) {}
	before := m.call("b", 600)
	m.submit(0, before)
	m.s.Raise(m.id("b"), 700, m.now)
	after := m.call("b", 100)
	m.submit(0, after)
	zero := []Cost{{Bucket: m.id("b")}}
	m.s.Settle(&before.Call, zero, m.now)
	if got := m.level("b"); got != 600 {
		t.Errorf("level %v after the old refund, want 600", got)
	}
	m.s.Settle(&after.Call, zero, m.now)
	if got := m.level("b"); got != 700 {
		t.Errorf("level %v after the new refund, want 700", got)
	}
}

func TestRaiseOfACapIsSharedOut(t *testing.T) {
	m := newSim(t, Config{
		Buckets: []Bucket{{Name: "day", Rate: 0.01, Capacity: 1000, Window: 24 * time.Hour, StartEmpty: true}},
		Lanes:   []Lane{{Name: "bulk", Share: 0.3}, {Name: "chat", Share: 0.7}},
	})
	m.s.Raise(m.id("day"), 100, m.now)
	m.checkSound(false)
	if v := m.submit(0, m.call("day", 31)); v.Reason != ReasonCapReached {
		t.Errorf("bulk beyond its share of what was lifted: %+v", v)
	}
	for lane, amount := range []float64{30, 70} {
		c := m.call("day", amount)
		c.Lane = lane
		if v := m.submit(0, c); v.State != Admitted {
			t.Errorf("lane %d: %+v", lane, v)
		}
	}
}

func TestRaiseLeavesSlotsAndUnknownBucketsAlone(t *testing.T) {
	m := newSim(t, Config{Buckets: []Bucket{{Name: "slots", Kind: Slots, Capacity: 2}}})
	m.onAdmit = func(*simCall) {}
	m.submit(0, m.call("slots", 1))
	m.s.Raise(m.id("slots"), 2, m.now)
	m.s.Raise(NoBucket, 2, m.now)
	m.s.Raise(77, 2, m.now)
	if got := m.level("slots"); got != 1 {
		t.Errorf("%v slots are free, want 1", got)
	}
}
