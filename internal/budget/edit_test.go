// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func one(capacity, rate float64) Config {
	return Config{Buckets: []Bucket{{Name: "b", Rate: rate, Capacity: capacity, Window: time.Minute}}}
}

// call makes a call of one bucket.
func (m *sim) call(name string, amount float64) *simCall {
	return &simCall{Call: Call{Costs: []Cost{{Bucket: m.id(name), Amount: amount, AtLeast: amount}}}}
}

func (m *sim) apply(at time.Duration, cfg Config) {
	m.t.Helper()
	m.runTo(at)
	m.s.Apply(cfg, m.now)
	m.runTo(at)
}

// Fault C12: Editing a policy filled its buckets, froze its waiters, or crashed the limiter.
// Headgate: Levels survive every edit, scaled and never raised; a limit that is removed and added again is remembered;
// waiting calls are looked at again under the new limit.
func TestC12EditsNeverRefill(t *testing.T) {
	for name, tc := range map[string]struct {
		spend float64
		edits []float64
		want  float64
	}{
		"the same again":            {spend: 100, edits: []float64{100}, want: 0},
		"halved scales":             {spend: 40, edits: []float64{50}, want: 30},
		"halved when full":          {spend: 0, edits: []float64{50}, want: 50},
		"doubled keeps":             {spend: 40, edits: []float64{200}, want: 60},
		"there and back":            {spend: 40, edits: []float64{50, 100}, want: 30},
		"through zero":              {spend: 0, edits: []float64{0, 150}, want: 0},
		"through nothing at all":    {spend: 40, edits: []float64{-1, 100}, want: 60},
		"removed, back and smaller": {spend: 40, edits: []float64{-1, 50}, want: 30},
		"many edits":                {spend: 100, edits: []float64{50, 100, 50, 100, 50, 100}, want: 0},
	} {
		t.Run(name, func(t *testing.T) {
			m := newSim(t, one(100, 1))
			if tc.spend > 0 {
				m.submit(0, m.call("b", tc.spend))
			}
			for _, capacity := range tc.edits {
				cfg := one(capacity, 1)
				if capacity < 0 {
					cfg.Buckets = nil
				}
				m.apply(0, cfg)
			}
			if got := m.level("b"); !near(got, tc.want, 1e-9) {
				t.Errorf("level = %v, want %v", got, tc.want)
			}
		})
	}
}

func TestC12DebtIsKeptOverEdits(t *testing.T) {
	m := newSim(t, one(100, 1))
	c := m.call("b", 100)
	m.onAdmit = func(*simCall) {}
	m.submit(0, c)
	m.s.Settle(&c.Call, []Cost{{Bucket: m.id("b"), Amount: 130}}, m.now)
	for _, capacity := range []float64{50, 200, 0, 100} {
		m.apply(0, one(capacity, 1))
		if got := m.level("b"); got != -30 {
			t.Fatalf("level = %v after an edit to %v, want -30", got, capacity)
		}
	}
	m.runTo(31 * time.Second)
	if got := m.level("b"); !near(got, 1, 1e-9) {
		t.Errorf("level = %v, want 1: debt is refilled off", got)
	}
}

func TestC12ARemovedLimitIsRememberedForOneWindow(t *testing.T) {
	m := newSim(t, one(100, 1))
	m.submit(0, m.call("b", 100))
	m.apply(0, Config{})
	if _, ok := m.s.Bucket("b"); ok {
		t.Error("a removed limit still has a handle")
	}
	m.apply(30*time.Second, one(100, 1))
	if got := m.level("b"); !near(got, 30, 1e-9) {
		t.Errorf("level = %v after half a window, want 30", got)
	}
	m.apply(31*time.Second, Config{})
	m.apply(3*time.Minute, Config{})
	if n := len(m.s.byName); n != 0 {
		t.Errorf("%d buckets are remembered after their window", n)
	}
}

func TestC12AHundredEditsAMinuteAdmitNoMore(t *testing.T) {
	check(t, 200, func(t *rapid.T) {
		m := newRapidSim(t, one(1000, 10))
		taken, gap := 0.0, time.Duration(0)
		m.onAdmit = func(c *simCall) {
			taken += c.holds[0].amount
			m.s.Settle(&c.Call, nil, m.now)
		}
		for i := range 100 {
			gap += 600 * time.Millisecond
			c := m.call("b", 50)
			c.Deadline = origin.Add(gap)
			m.submit(gap, c)
			cfg := one(1000, 10)
			switch rapid.IntRange(0, 3).Draw(t, "edit") {
			case 0:
				cfg.Buckets[0].Capacity = rapid.Float64Range(0, 1000).Draw(t, "capacity")
			case 1:
				cfg.Buckets = nil
			case 2:
				cfg.Lanes = []Lane{{Name: fmt.Sprint(i % 3), Share: 0.5}, {Name: "default", Share: 0.5}}
			}
			before := m.s.byName["b"].level
			m.s.Apply(cfg, m.now)
			if after := m.s.byName["b"].level; after > before {
				t.Fatalf("an edit lifted the level from %v to %v", before, after)
			}
			m.checkSound(false)
			m.s.Apply(one(1000, 10), m.now)
		}
		if limit := 1000 + 10*gap.Seconds(); taken > limit+1e-6 {
			t.Fatalf("%v taken, limit %v", taken, limit)
		}
	})
}

func TestC12WaitersAreLookedAtAgain(t *testing.T) {
	m := newSim(t, one(100, 1))
	m.submit(0, m.call("b", 100))
	fits, tooLarge, late := m.call("b", 30), m.call("b", 60), m.call("b", 40)
	late.Deadline = origin.Add(150 * time.Second)
	for _, c := range []*simCall{fits, tooLarge, late} {
		if v := m.submit(0, c); v.State != Queued {
			t.Fatalf("%+v", v)
		}
	}
	m.apply(0, one(50, 0.5))
	if v := tooLarge.Verdict(); v.Reason != ReasonTooLarge {
		t.Errorf("too large for the new limit: %+v", v)
	}
	if v := late.Verdict(); v.State != Queued {
		t.Errorf("70 at 0.5/s is 140s, in time for 150s: %+v", v)
	}
	m.apply(0, one(50, 0.25))
	if v := late.Verdict(); v.Reason != ReasonDeadline {
		t.Errorf("at 0.25/s it is late: %+v", v)
	}
	m.apply(0, one(200, 300))
	m.runTo(100 * time.Millisecond)
	if fits.left != 100*time.Millisecond {
		t.Errorf("with the larger rate it leaves at %v, want 100ms", fits.left)
	}
	m.submit(time.Second, m.call("b", 200))
	last := m.call("b", 150)
	m.submit(time.Second, last)
	m.apply(time.Second, Config{})
	if last.left != time.Second {
		t.Errorf("without the limit it leaves at %v", last.left)
	}
}

func TestC12WaitersOfARemovedLaneMoveToTheDefault(t *testing.T) {
	cfg := one(100, 1)
	cfg.Lanes = []Lane{{Name: "bulk", Share: 0.5}, {Name: "default", Share: 0.5}}
	cfg.Buckets = append(cfg.Buckets, Bucket{Name: "slots", Kind: Slots, Capacity: 2})
	m := newSim(t, cfg)
	m.onAdmit = func(*simCall) {}
	holder, c := m.call("b", 100), m.call("b", 10)
	holder.Lane, holder.Costs = 1, append(holder.Costs, Cost{Bucket: m.id("slots"), Amount: 1})
	c.Costs = append(c.Costs, Cost{Bucket: m.id("slots"), Amount: 1})
	m.submit(0, holder)
	m.s.Settle(&holder.Call, nil, m.now)
	if v := m.submit(0, c); v.State != Queued {
		t.Fatalf("%+v", v)
	}
	cfg.Lanes = cfg.Lanes[1:]
	m.apply(0, cfg)
	if l := m.s.lanes[0]; l.depth != 1 || c.home() != l {
		t.Fatalf("the default lane has %d waiting", l.depth)
	}
	m.runTo(10 * time.Second)
	if c.left != 10*time.Second {
		t.Errorf("left at %v, want 10s", c.left)
	}
	cfg.Lanes = []Lane{{Name: "other"}}
	m.apply(11*time.Second, cfg)
	if used := m.s.byName["slots"].accounts[0].inUse.sum; used != 1 {
		t.Errorf("the new default has %v slots in use, want 1", used)
	}
	m.s.Settle(&c.Call, nil, m.now)
	if got := m.level("slots"); got != 2 {
		t.Errorf("%v slots free, want 2", got)
	}
}

func TestMirrorsAreBoundedAndLiveOnesStay(t *testing.T) {
	m := newSim(t, one(100, 1))
	m.onAdmit = func(*simCall) {}
	mirror := func(i int) Bucket {
		return Bucket{Name: fmt.Sprint("mirror", i), Rate: 1, Capacity: 10, Window: time.Minute}
	}
	first := m.s.Ensure(mirror(0), m.now)
	c := &simCall{Call: Call{Costs: []Cost{{Bucket: first, Amount: 4}}}}
	m.submit(0, c)
	second := m.s.Ensure(mirror(1), m.now)
	for i := 2; i < 1000; i++ {
		m.now = m.now.Add(time.Millisecond)
		if m.s.Ensure(mirror(i), m.now) == NoBucket {
			t.Fatalf("no room for mirror %d", i)
		}
	}
	if n := len(m.s.byName); n != maxMirrors+1 {
		t.Errorf("%d buckets, want %d and the limit", n, maxMirrors)
	}
	if id, ok := m.s.Bucket("mirror0"); !ok || id != first {
		t.Error("a mirror with a live call was evicted")
	}
	if m.s.bucket(second) != nil {
		t.Error("the handle of an evicted mirror leads to another bucket")
	}
	if _, ok := m.s.Bucket("b"); !ok {
		t.Error("a limit was evicted")
	}
	if again := m.s.Ensure(Bucket{Name: "mirror0", Rate: 1, Capacity: 5, Window: time.Minute}, m.now); again != first {
		t.Error("the handle changed with the limit")
	}
	m.s.Apply(one(50, 1), m.now)
	if _, ok := m.s.Bucket("mirror0"); !ok {
		t.Error("an edit removed a mirror")
	}
}

// A limit that gets another name is the same limit: its level, its debt, what is in use of it and who waits for it stay, and it is
// remembered by neither name when it goes for good.
func TestC12ARenamedLimitGoesOnAsItWas(t *testing.T) {
	renamed := func(capacity float64) Config {
		cfg := one(capacity, 1)
		cfg.Buckets[0].Name, cfg.Buckets[0].Formerly = "new", "b"
		return cfg
	}
	m := newSim(t, one(100, 1))
	waits := m.call("b", 90)
	m.submit(0, m.call("b", 80))
	m.submit(0, waits)
	m.apply(10*time.Second, renamed(100))
	if got := m.level("new"); !near(got, 30, 1e-9) {
		t.Errorf("level %v, want 30: an edit never refills", got)
	}
	m.apply(10*time.Second, renamed(200))
	if _, ok := m.s.Bucket("b"); ok || m.level("new") != 30 {
		t.Errorf("again: the old name is known %t, level %v", ok, m.level("new"))
	}
	m.runTo(70 * time.Second)
	if waits.left != 70*time.Second {
		t.Errorf("who waited went at %v, want 70s", waits.left)
	}
	// Both names at once are two limits, as is another kind.
	both := renamed(100)
	both.Buckets[0].Formerly = ""
	both.Buckets = append(both.Buckets, Bucket{Name: "more", Formerly: "new", Rate: 1, Capacity: 5, Window: time.Minute})
	m.apply(70*time.Second, both)
	if got := m.level("more"); got != 5 {
		t.Errorf("a limit beside it has %v", got)
	}
	slots := Config{Buckets: []Bucket{{Name: "s", Formerly: "new", Kind: Slots, Capacity: 2}}}
	m.apply(70*time.Second, slots)
	m.onAdmit = func(*simCall) {}
	for range 2 {
		m.submit(70*time.Second, m.call("s", 1))
	}
	slots.Buckets[0].Name, slots.Buckets[0].Formerly = "t", "s"
	m.apply(70*time.Second, slots)
	if v := m.submit(70*time.Second, m.call("t", 1)); v.State != Queued || m.level("t") != 0 {
		t.Errorf("%+v beside two that are in flight under the old name", v)
	}
}
