// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"testing"
	"time"
)

// hundred is one bucket of 100 a second, empty at first, with these lanes.
func hundred(lanes ...Lane) Config {
	cfg := one(1000, 100)
	cfg.Buckets[0].StartEmpty = true
	cfg.Lanes = lanes
	return cfg
}

// crowd keeps calls of a size waiting in each lane that has one, up to a time, and returns what each lane got.
func (m *sim) crowd(until time.Duration, sizes ...float64) []float64 {
	m.t.Helper()
	got := make([]float64, len(sizes))
	m.onAdmit = func(c *simCall) {
		got[c.Lane] += c.holds[0].amount
		m.s.Settle(&c.Call, nil, m.now)
	}
	for at := m.since(); at < until; at += 100 * time.Millisecond {
		m.runTo(at)
		for lane, size := range sizes {
			for size > 0 && m.s.lanes[lane].depth < 5 {
				c := m.call("b", size)
				c.Lane = lane
				m.submit(at, c)
			}
		}
	}
	return got
}

func TestWeightsAndPrioritiesDivideWhatIsBorrowed(t *testing.T) {
	for name, tc := range map[string]struct {
		lanes []Lane
		sizes []float64
		// want are parts of all.
		want []float64
	}{
		"by weight":                       {[]Lane{{Name: "x", Weight: 3}, {Name: "y", Weight: 1}}, []float64{10, 10}, []float64{0.75, 0.25}},
		"no weight is 1":                  {[]Lane{{Name: "x", Weight: 2}, {Name: "y"}}, []float64{10, 10}, []float64{0.667, 0.333}},
		"of lanes with shares":            {[]Lane{{Name: "x", Share: 0.2, Weight: 3}, {Name: "y", Share: 0.2}}, []float64{10, 10}, []float64{0.75, 0.25}},
		"what goes by credit comes first": {[]Lane{{Name: "x", Share: 0.2, Weight: 9}, {Name: "y", Share: 0.2}}, []float64{10, 10}, []float64{0.75, 0.25}},
		"a share does not crowd weights":  {[]Lane{{Name: "x", Weight: 3}, {Name: "y"}, {Name: "s", Share: 0.5}}, []float64{10, 10, 10}, []float64{0.333, 0.111, 0.555}},
		"an idle lane's share is lent":    {[]Lane{{Name: "x", Weight: 3}, {Name: "y"}, {Name: "s", Share: 0.5}}, []float64{10, 10, 0}, []float64{0.75, 0.25, 0}},
		"all to the higher priority":      {[]Lane{{Name: "x", Priority: 1}, {Name: "y", Weight: 100}}, []float64{10, 10}, []float64{1, 0}},
		"except the lower one's share":    {[]Lane{{Name: "x", Share: 0.2, Priority: 1}, {Name: "y", Share: 0.2}}, []float64{10, 10}, []float64{0.8, 0.2}},
		"also of larger calls":            {[]Lane{{Name: "x", Share: 0.2, Priority: 1}, {Name: "y", Share: 0.2}}, []float64{10, 100}, []float64{0.8, 0.2}},
		"weights within each priority": {
			[]Lane{{Name: "x", Share: 0.4, Priority: 1}, {Name: "y", Weight: 3, Priority: -1}, {Name: "z", Priority: -1}},
			[]float64{0, 10, 10},
			[]float64{0, 0.75, 0.25},
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newSim(t, hundred(tc.lanes...))
			got := m.crowd(5*time.Minute, tc.sizes...)
			for i, want := range tc.want {
				if part := got[i] / 30_000; !near(part, want, 0.01) {
					t.Errorf("lane %s got %.3f of all, want %.3f", tc.lanes[i].Name, part, want)
				}
			}
		})
	}
}

// Who often borrows in one priority does not make the lanes of another forget whose turn it is.
func TestVirtualTimesOfPrioritiesAreApart(t *testing.T) {
	m := newSim(t, hundred(Lane{Name: "top", Priority: 5}, Lane{Name: "x", Weight: 3}, Lane{Name: "y"}))
	for i := range 600 {
		c := m.call("b", 10)
		m.submit(time.Duration(i)*500*time.Millisecond, c)
		m.crowd(time.Duration(i+1)*500*time.Millisecond, 0, 10, 10)
	}
	if x, y := m.s.lanes[1].v, m.s.lanes[2].v; !near(x, y, 1) || x < 10 {
		t.Errorf("virtual times of x and y are %v and %v", x, y)
	}
	var snap Snapshot
	m.s.Snapshot(m.now, &snap)
	if x, y := float64(snap.Lanes[1].Borrowed), float64(snap.Lanes[2].Borrowed); !near(x/y, 3, 0.05) || snap.Lanes[0].Borrowed != 600 {
		t.Errorf("borrowed: top %d, x %v, y %v", snap.Lanes[0].Borrowed, x, y)
	}
}

func TestAnIdleLaneSavesUpNoTurns(t *testing.T) {
	m := newSim(t, hundred(Lane{Name: "x"}, Lane{Name: "y"}))
	m.crowd(5*time.Minute, 10, 0)
	got := m.crowd(6*time.Minute, 10, 10)
	if !near(got[0]/6000, 0.5, 0.02) || !near(got[1]/6000, 0.5, 0.02) {
		t.Errorf("after y was idle for five minutes, of the next one's 6000 x got %v and y %v", got[0], got[1])
	}
}

// Whether a call can start in time is answered by priority too: what waits in lower lanes does not count against it.
func TestAHigherPriorityIsAcceptedBesideALongLowerQueue(t *testing.T) {
	for priority, want := range map[int32]bool{0: false, 1: true} {
		m := newSim(t, hundred(Lane{Name: "x", Share: 0.2, Priority: priority, Hold: -1}, Lane{Name: "y", Share: 0.2, Hold: -1}))
		for range 300 {
			c := m.call("b", 20)
			c.Lane = 1
			m.submit(0, c)
		}
		refused := 0
		for at := time.Duration(0); at < 30*time.Second; at += 285 * time.Millisecond {
			// 70 a second: more than half, less than what y's share leaves.
			c := m.call("b", 20)
			c.Deadline = origin.Add(at + 2*time.Second)
			if m.submit(at, c).State == Refused {
				refused++
			}
		}
		m.runTo(time.Minute)
		if accepted := refused == 0; accepted != want || m.late+m.expired > 0 {
			t.Errorf("priority %d: %d refused, %d declined later, %d expired", priority, refused, m.late, m.expired)
		}
	}
}

// A small call does not wait for a larger one that collects, whatever the priorities: the larger one has its own share.
func TestSmallCallsBorrowBesideALargerOneOfAHigherPriority(t *testing.T) {
	m := newSim(t, hundred(Lane{Name: "x", Share: 0.4, Priority: 1}, Lane{Name: "y", Share: 0.4}))
	big := m.call("b", 400)
	m.submit(0, big)
	small := m.call("b", 10)
	small.Lane = 1
	m.submit(0, small)
	m.runTo(10 * time.Second)
	// The large one goes within what its own rate takes, 400 / (0.4·100).
	if small.left == 0 || small.left > time.Second || big.left > 10*time.Second {
		t.Errorf("the small one left at %v, the large one at %v", small.left, big.left)
	}
}

// A call yields only what the other one lacks: where that waits for another bucket, nobody is served by waiting too.
func TestACallYieldsOnlyWhatTheOtherLacks(t *testing.T) {
	cfg := hundred(Lane{Name: "x", Priority: 1}, Lane{Name: "y"})
	cfg.Buckets = append(cfg.Buckets, Bucket{Name: "model", Rate: 1, Capacity: 100, Window: time.Minute, StartEmpty: true})
	m := newSim(t, cfg)
	x, y := m.call("b", 50), m.call("b", 50)
	x.Costs = append(x.Costs, Cost{Bucket: m.id("model"), Amount: 20})
	y.Lane = 1
	m.submit(0, y)
	m.submit(0, x)
	m.runTo(time.Minute)
	// At 0.5 s x lacks only the model's bucket, so y goes.
	if y.left != 500*time.Millisecond || x.left != 20*time.Second {
		t.Errorf("y left at %v, x at %v", y.left, x.left)
	}
}

func TestHoldIsWhatAnIdleLaneKeeps(t *testing.T) {
	for name, tc := range map[string]struct {
		hold time.Duration
		want float64
	}{
		"absent is ten seconds, at most half of its part": {0, 250},
		"none":          {-1, 0},
		"two seconds":   {2 * time.Second, 100},
		"all of it":     {time.Hour, 500},
		"a nanosecond":  {1, 50e-9},
		"eight seconds": {8 * time.Second, 400},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := one(1000, 100)
			cfg.Lanes = []Lane{{Name: "x", Share: 0.5, Hold: tc.hold}, {Name: "y", Share: 0.5, Hold: -1}}
			m := newSim(t, cfg)
			m.runTo(time.Minute)
			// The other lane may take all but that at once.
			all := m.call("b", 1000-tc.want)
			all.Lane = 1
			if v := m.submit(time.Minute, all); v.State != Admitted {
				t.Fatalf("%+v", v)
			}
			if tc.want > 0 {
				c := m.call("b", tc.want)
				if v := m.submit(time.Minute, c); v.State != Admitted {
					t.Errorf("what x kept: %+v", v)
				}
			}
			if e := m.s.slots[0].accounts[0].hold; !near(e, tc.want, 1e-9) {
				t.Errorf("hold %v, want %v", e, tc.want)
			}
		})
	}
}

func TestC12EditsOfLanesChangeNoLevel(t *testing.T) {
	cfg := one(1000, 10)
	cfg.Lanes = []Lane{{Name: "x", Share: 0.5}, {Name: "y", Share: 0.5}}
	m := newSim(t, cfg)
	m.runTo(time.Minute)
	m.submit(time.Minute, m.call("b", 400))
	held := func() float64 {
		var snap Snapshot
		m.s.Snapshot(m.now, &snap)
		return snap.Buckets[0].HeldForLanes
	}
	before := held()
	for _, edit := range []func(l *Lane){
		func(l *Lane) { l.Priority = 7 },
		func(l *Lane) { l.Weight = 50 },
		func(l *Lane) { l.MaxDepth, l.MaxBytes, l.MaxWait = 5, 10, time.Second },
		func(l *Lane) { l.Hold = time.Hour },
	} {
		edit(&cfg.Lanes[1])
		m.s.Apply(cfg, m.now)
		if got := m.level("b"); got != 600 || held() != before {
			t.Fatalf("after an edit to %+v the level is %v, held %v of before %v", cfg.Lanes[1], got, held(), before)
		}
	}
	cfg.Lanes[1].Hold = -1
	m.s.Apply(cfg, m.now)
	if got := m.level("b"); got != 600 || held() != 0 {
		t.Errorf("without hold: level %v, held %v, want 600 and nothing: x had spent its own", got, held())
	}
}

// A waiter is looked at again by its lane's new priority at once.
func TestC12APriorityThatRisesCountsAtOnce(t *testing.T) {
	cfg := hundred(Lane{Name: "x"}, Lane{Name: "y"})
	m := newSim(t, cfg)
	first, second := m.call("b", 100), m.call("b", 100)
	second.Lane = 1
	m.submit(0, first)
	m.submit(0, second)
	cfg.Lanes[1].Priority = 1
	m.apply(500*time.Millisecond, cfg)
	m.runTo(time.Minute)
	if second.left != time.Second || first.left != 2*time.Second {
		t.Errorf("the raised one left at %v, the other at %v", second.left, first.left)
	}
}

// A head is not overtaken because of an edit, also not by a retry that was committed before it.
func TestC12AnEditKeepsTheHead(t *testing.T) {
	m := newSim(t, one(100, 1))
	m.onAdmit = func(*simCall) {}
	m.submit(0, m.call("b", 100))
	a, head := m.call("b", 10), m.call("b", 10)
	m.submit(0, a)
	m.runTo(10 * time.Second)
	m.submit(10*time.Second, head)
	m.s.Settle(&a.Call, nil, m.now)
	m.s.Retry(&a.Call, m.now, m.now)
	m.apply(15*time.Second, one(100, 1))
	m.runTo(time.Minute)
	if head.left != 20*time.Second || a.left != 30*time.Second {
		t.Errorf("the head left at %v, the retry at %v", head.left, a.left)
	}
}
