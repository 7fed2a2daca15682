// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"testing"
	"time"
)

// pressed has room for ten calls or 1000 bytes, a bucket that gives little, and lanes of two priorities.
func pressed() Config {
	cfg := one(100, 0.01)
	cfg.Buckets[0].StartEmpty = true
	cfg.Lanes = []Lane{{Name: "low", Share: 0.5, Hold: -1}, {Name: "high", Share: 0.5, Hold: -1, Priority: 1}}
	cfg.MaxDepth, cfg.MaxBytes = 10, 1000
	return cfg
}

func (m *sim) paused() (low, high bool) {
	var snap Snapshot
	m.s.Snapshot(m.now, &snap)
	return snap.Lanes[0].Paused, snap.Lanes[1].Paused
}

// wantPaused checks which lanes are paused at a time.
func (m *sim) wantPaused(at time.Duration, low bool) {
	m.t.Helper()
	m.runTo(at)
	if l, h := m.paused(); l != low || h {
		m.t.Fatalf("at %v paused: low %v, high %v; want low %v", at, l, h, low)
	}
}

func (m *sim) fill(lane, n int, bytes int64) []*simCall {
	m.t.Helper()
	var out []*simCall
	for range n {
		out = append(out, m.wait(lane, Queued, ReasonNone, func(c *simCall) { c.Bytes = bytes }))
	}
	return out
}

func TestQueuesThatStayNearlyFullPauseLowerLanes(t *testing.T) {
	const n = 8
	for name, bytes := range map[string]int64{"depth": 0, "bytes": 100} {
		t.Run(name, func(t *testing.T) {
			cfg := pressed()
			if bytes > 0 {
				cfg.MaxDepth = 0
			}
			m := newSim(t, cfg)
			m.runTo(time.Second)
			calls := m.fill(1, n, bytes)
			// It has a dwell, which begins anew when occupancy falls below the mark between.
			m.wantPaused(6*time.Second-1, false)
			m.s.Cancel(&calls[n-1].Call, m.now)
			calls[n-1] = m.fill(1, 1, bytes)[0]
			m.wantPaused(11*time.Second-2, false)
			m.wantPaused(11*time.Second-1, true)
			c := m.wait(0, Refused, ReasonLanePaused, nil)
			if v := c.Verdict(); v.Wait < 5*time.Second {
				t.Errorf("a refused call is told %v, the pause lasts 5s at the least", v.Wait)
			}
			m.fill(1, 1, bytes)
			// Three quarters are not little enough; 60 % for five seconds are.
			for _, c := range calls[n/4*3:] {
				m.s.Cancel(&c.Call, m.now)
			}
			m.wantPaused(60*time.Second, true)
			for _, c := range calls[n/2 : n/4*3] {
				m.s.Cancel(&c.Call, m.now)
			}
			m.wantPaused(65*time.Second-1, true)
			if v := m.wait(0, Refused, ReasonLanePaused, nil).Verdict(); v.Wait < 1 {
				t.Errorf("just before the end it is told %v", v.Wait)
			}
			m.wantPaused(65*time.Second, false)
			m.fill(0, 1, 0)
		})
	}
}

// Nobody is paused for his own priority's calls, nor for a higher priority of which no call waits.
func TestThePausePrefersSomebody(t *testing.T) {
	m := newSim(t, pressed())
	m.fill(0, 9, 0)
	m.wantPaused(10*time.Second, false)
	if !m.s.pressure.nearlyFull {
		t.Fatal("the queues are nearly full")
	}
	m.fill(0, 1, 0)
	high := m.fill(1, 1, 0)
	m.wantPaused(10*time.Second, true)
	m.s.Cancel(&high[0].Call, m.now)
	m.wantPaused(10*time.Second, false)

	cfg := pressed()
	cfg.Lanes[1].Priority = 0
	m = newSim(t, cfg)
	m.fill(1, 9, 0)
	m.wantPaused(time.Minute, false)
	m.fill(0, 1, 0)
}

// A paused lane gets what is sure to it, no later, and nothing else.
func TestAPausedLaneGoesOnByItsShareAlone(t *testing.T) {
	for name, tc := range map[string]struct {
		places int
		first  time.Duration
		each   time.Duration
	}{
		// 10 of 0.5 a second.
		"paused": {10, 20 * time.Second, 20 * time.Second},
		// 10 of 2 a second, less the 0.5 that the other lane keeps collecting.
		"not paused": {100, 6_666_666_667, 6_666_666_667},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := pressed()
			cfg.MaxDepth, cfg.Buckets[0].Rate = tc.places, 2
			cfg.Lanes[0].Share, cfg.Lanes[1].Share = 0.25, 0.25
			m := newSim(t, cfg)
			low := m.fill(0, 2, 0)
			// Far larger calls, which smaller ones would pass.
			for range 7 {
				m.wait(1, Queued, ReasonNone, func(c *simCall) { c.Costs[0].Amount = 80 })
			}
			m.runTo(41 * time.Second)
			if low[0].left != tc.first || !near(float64(low[1].left), float64(tc.first+tc.each), 10) {
				t.Errorf("left at %v and %v, want %v and %v later", low[0].left, low[1].left, tc.first, tc.each)
			}
			m.checkConserving()
		})
	}
}

func TestWhenThePauseEndsLowerLanesBorrowAtOnce(t *testing.T) {
	cfg := pressed()
	cfg.Lanes[0].Share, cfg.Lanes[1].Share = 0, 0.5
	cfg.Buckets[0].Rate = 2
	m := newSim(t, cfg)
	low := m.call("b", 12)
	high := m.call("b", 90)
	high.Lane = 1
	m.submit(0, high)
	m.submit(0, low)
	more := m.fill(1, 6, 0)
	m.runTo(11 * time.Second)
	if low.left != 0 {
		t.Fatalf("it borrowed at %v while paused", low.left)
	}
	for _, c := range more[:4] {
		m.s.Cancel(&c.Call, m.now)
	}
	m.runTo(16*time.Second - 1)
	if at, ok := m.s.Next(m.now); low.left != 0 || !ok || at.Sub(origin) != 16*time.Second {
		t.Fatalf("it left at %v; next is %v %v, want the end of the pause", low.left, at.Sub(origin), ok)
	}
	m.runTo(16 * time.Second)
	if low.left != 16*time.Second {
		t.Errorf("left at %v", low.left)
	}
}

// The pause is by time: whether anybody looks meanwhile does not matter, and an edit does not restart it.
func TestThePauseDoesNotDependOnWhoLooks(t *testing.T) {
	m := newSim(t, pressed())
	m.fill(1, 9, 0)
	m.apply(3*time.Second, pressed())
	m.s.tick(origin.Add(4 * time.Second))
	m.now = origin.Add(time.Hour)
	if low, _ := m.paused(); !low {
		t.Error("not paused after an hour")
	}
	m = newSim(t, pressed())
	m.fill(1, 9, 0)
	m.apply(3*time.Second, pressed())
	m.wantPaused(5*time.Second, true)
	// Larger queues are not nearly full any more.
	cfg := pressed()
	cfg.MaxDepth = 100
	m.apply(6*time.Second, cfg)
	m.wantPaused(11*time.Second-1, true)
	m.wantPaused(11*time.Second, false)
}

// Without a bound of the whole, the lanes' own depths add up to it.
func TestLanesDepthsBoundTheWhole(t *testing.T) {
	cfg := pressed()
	cfg.MaxDepth = 0
	cfg.Lanes[0].MaxDepth, cfg.Lanes[1].MaxDepth = 2, 8
	m := newSim(t, cfg)
	m.fill(1, 7, 0)
	m.wantPaused(10*time.Second, false)
	m.fill(1, 1, 0)
	m.wantPaused(15*time.Second, true)
	var snap Snapshot
	m.s.Snapshot(m.now, &snap)
	if snap.Lanes[0].MaxDepth != 2 || snap.Lanes[1].MaxDepth != 8 {
		t.Errorf("%+v", snap.Lanes)
	}
}
