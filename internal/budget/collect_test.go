// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// shared is a small share of a limit of 400,000: 2,000 at once, 400 a second.
func shared() Config {
	return Config{Buckets: []Bucket{{
		Name: "b", Rate: 400, Capacity: 2000, Limit: 400_000, Window: time.Minute, StartEmpty: true,
	}}}
}

func (m *sim) large(amount, atLeast float64, patience time.Duration) *simCall {
	return &simCall{Call: Call{
		Costs:    []Cost{{Bucket: m.id("b"), Amount: amount, AtLeast: atLeast}},
		Deadline: m.now.Add(patience),
	}}
}

func TestOnlyTheDeclaredLimitMakesACallTooLarge(t *testing.T) {
	for name, tc := range map[string]struct {
		capacity, limit, atLeast float64
		want                     Reason
	}{
		"above the share":    {2000, 400_000, 60_000, ReasonDeadline},
		"the whole limit":    {2000, 400_000, 400_000, ReasonDeadline},
		"above the limit":    {2000, 400_000, 400_001, ReasonTooLarge},
		"no share yet":       {0, 400_000, 10, ReasonDeadline},
		"nothing passes":     {0, 0, 10, ReasonNothing},
		"the limit is unset": {2000, 0, 2001, ReasonTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := shared()
			cfg.Buckets[0].Capacity, cfg.Buckets[0].Limit = tc.capacity, tc.limit
			if tc.capacity == 0 {
				cfg.Buckets[0].Rate = 0
			}
			m := newSim(t, cfg)
			if v := m.submit(0, m.large(tc.atLeast, tc.atLeast, time.Second)); v.State != Refused || v.Reason != tc.want {
				t.Errorf("submit = %+v, want refused: %s", v, tc.want)
			}
		})
	}
}

func TestACallAboveTheShareCollectsAndGoesWithoutDebt(t *testing.T) {
	m := newSim(t, shared())
	c := m.large(60_000, 48_000, 5*time.Minute)
	if v := m.submit(0, c); v.State != Queued || v.Wait != 2*time.Minute {
		t.Fatalf("submit = %+v, want queued for 48,000/400 = 2m", v)
	}
	m.runTo(2*time.Minute - 1)
	if c.left != 0 {
		t.Fatalf("left at %v, a nanosecond early or more", c.left)
	}
	m.runTo(10 * time.Minute)
	if c.left != 2*time.Minute || m.level("b") != 2000 {
		t.Errorf("left at %v, the level ends at %v", c.left, m.level("b"))
	}
}

func TestACallAboveTheShareIsToldTheTruthWhenItIsDeclined(t *testing.T) {
	m := newSim(t, shared())
	v := m.submit(0, m.large(60_000, 48_000, time.Minute))
	if v.Reason != ReasonDeadline || v.Wait != 2*time.Minute {
		t.Fatalf("submit = %+v, want refused: fits in 2m", v)
	}
	m.runTo(v.Wait)
	if v := m.submit(v.Wait, m.large(60_000, 48_000, time.Minute)); v.State != Admitted {
		t.Fatalf("back as told: %+v", v)
	}
	// Who stays away keeps nothing from the others for long, and the bucket is its capacity again.
	m.submit(3*time.Minute, m.large(60_000, 48_000, time.Second))
	m.runTo(10 * time.Minute)
	if got := m.level("b"); got != 2000 {
		t.Errorf("the level is %v", got)
	}
}

func TestWhatWasCollectedForACallThatLeavesIsGivenUp(t *testing.T) {
	m := newSim(t, shared())
	c := m.large(60_000, 48_000, 5*time.Minute)
	m.submit(0, c)
	m.runTo(time.Minute)
	if got := m.level("b"); !near(got, 24_000, 1e-6) {
		t.Fatalf("collected %v", got)
	}
	m.s.Cancel(&c.Call, m.now)
	if got := m.level("b"); got != 2000 {
		t.Errorf("after it left the level is %v", got)
	}
}

func TestAShareThatChangesKeepsWhatIsCollected(t *testing.T) {
	m := newSim(t, shared())
	c := m.large(60_000, 48_000, 5*time.Minute)
	m.submit(0, c)
	m.runTo(time.Minute)
	cfg := shared()
	cfg.Buckets[0].Rate, cfg.Buckets[0].Capacity = 2400, 40_000
	m.s.Apply(cfg, m.now)
	m.runTo(2 * time.Minute)
	if want := time.Minute + 10*time.Second; c.left != want {
		t.Errorf("left at %v, want %v: 24,000 more at 2,400/s", c.left, want)
	}
}

// What waits for a mirror that turns out to be smaller is fitted to it, not left to expire.
func TestAMirrorThatShrinksKeepsItsWaitersMoving(t *testing.T) {
	m := newSim(t, Config{})
	spec := Bucket{Name: "b", Rate: 100, Capacity: 5000, StartEmpty: true, Window: time.Minute}
	m.s.Ensure(spec, m.now)
	c := m.large(3000, 1000, 2*time.Minute)
	m.submit(0, c)
	spec.Capacity = 1500
	m.s.Ensure(spec, m.now)
	m.runTo(2 * time.Minute)
	if c.left != 15*time.Second {
		t.Errorf("left at %v, want when the bucket is full: 15s", c.left)
	}
}

// However many calls above the share come, wait, are declined and come back: over any interval no more passes
// than the rate and the larger of the capacity and the largest call.
func TestCallsAboveTheShareKeepTheRate(t *testing.T) {
	check(t, 1000, func(t *rapid.T) {
		cfg := shared()
		cfg.Lanes = []Lane{{Name: "bulk", Share: 0.4}, {Name: "chat", Share: 0.6}}
		m := newRapidSim(t, cfg)
		var all []*simCall
		m.onAdmit = func(c *simCall) { m.s.Settle(&c.Call, nil, m.now); all = append(all, c) }
		at, largest := time.Duration(0), 2000.0
		for range rapid.IntRange(1, 40).Draw(t, "calls") {
			at += time.Duration(rapid.Float64Range(0, 40).Draw(t, "gap") * 1e9)
			m.runTo(at)
			amount := rapid.SampledFrom([]float64{100, 900, 2000, 5000, 20_000}).Draw(t, "amount")
			largest = max(largest, amount)
			c := m.large(amount, amount, time.Duration(rapid.Float64Range(0, 200).Draw(t, "patience")*1e9))
			c.Lane = rapid.IntRange(0, 1).Draw(t, "lane")
			if v := m.submit(at, c); v.Reason == ReasonTooLarge {
				t.Fatalf("submit = %+v", v)
			}
			m.checkSound(false)
		}
		m.runTo(at + time.Hour)
		for i := range all {
			sum := 0.0
			for _, c := range all[i:] {
				sum += c.Costs[0].Amount
				if limit := largest + 400*(c.left-all[i].left).Seconds(); sum > limit*(1+1e-9) {
					t.Fatalf("%v passed from %v to %v, limit %v", sum, all[i].left, c.left, limit)
				}
			}
		}
	})
}
