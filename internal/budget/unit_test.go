// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"testing"
	"time"
)

// TestC12AnotherUnitKeepsThePart: a limit of tokens becomes one of requests, or of longer windows. It has the part that it had,
// and a debt of thousands of tokens is not one of thousands of requests.
func TestC12AnotherUnitKeepsThePart(t *testing.T) {
	for name, tc := range map[string]struct {
		spent    float64 // of a hundred
		capacity float64
		window   time.Duration
		want     float64
	}{
		"full":           {spent: 0, capacity: 10, want: 10},
		"half":           {spent: 50, capacity: 10, want: 5},
		"half of more":   {spent: 50, capacity: 1000, want: 500},
		"a cap":          {spent: 50, capacity: 1000, window: 24 * time.Hour, want: 500},
		"empty":          {spent: 100, capacity: 10, want: 0},
		"a debt":         {spent: 140, capacity: 10, want: -4},
		"a cap's debt":   {spent: 140, capacity: 10, window: time.Hour, want: -4},
		"a debt of more": {spent: 140, capacity: 1000, want: -400},
		"a large debt":   {spent: 900, capacity: 10, want: -10},
		"of nothing":     {spent: 140, capacity: 0, want: 0},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := one(100, 1)
			cfg.Buckets[0].Unit = "tokens"
			m := newSim(t, cfg)
			m.onAdmit = func(*simCall) {}
			c := m.call("b", min(tc.spent, 100))
			m.submit(0, c)
			m.s.Settle(&c.Call, []Cost{{Bucket: m.id("b"), Amount: tc.spent}}, m.now)
			cfg = one(tc.capacity, 1)
			cfg.Buckets[0].Unit = "requests"
			if tc.window > 0 {
				cfg.Buckets[0].Window = tc.window
			}
			for range 2 { // the same again changes nothing
				m.apply(0, cfg)
				if got := m.level("b"); !near(got, tc.want, 1e-9) {
					t.Errorf("the level is %v, want %v", got, tc.want)
				}
			}
		})
	}
}

// TestC12AnotherUnitIsOtherThanWhatIsUnderWay: what calls under way give back, or spend beyond, is in the unit of before.
func TestC12AnotherUnitIsOtherThanWhatIsUnderWay(t *testing.T) {
	for name, actual := range map[string]float64{"gives back": 1, "as reserved": 50, "spends beyond": 5000} {
		t.Run(name, func(t *testing.T) {
			cfg := one(100, 1)
			cfg.Buckets[0].Unit = "tokens"
			m := newSim(t, cfg)
			m.onAdmit = func(*simCall) {}
			c := m.call("b", 50)
			m.submit(0, c)
			before := m.id("b")
			cfg = one(60, 1)
			cfg.Buckets[0].Unit = "requests"
			m.apply(0, cfg)
			m.s.Charge(&c.Call, []Cost{{Bucket: before, Amount: 10}}, m.now)
			m.s.Settle(&c.Call, []Cost{{Bucket: before, Amount: actual}}, m.now)
			if got := m.level("b"); !near(got, 30, 1e-9) {
				t.Errorf("the level is %v, want 30", got)
			}
		})
	}
}
