// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"testing"
	"time"
)

// crowded is a bucket that gives nothing for a long time, three lanes and room for six calls or 100 bytes in all.
func crowded() Config {
	cfg := one(100, 0.1)
	cfg.Buckets[0].StartEmpty = true
	cfg.Lanes = []Lane{{Name: "low", Priority: -1}, {Name: "mid"}, {Name: "high", Priority: 1}}
	cfg.MaxDepth, cfg.MaxBytes = 6, 100
	return cfg
}

// wait submits a call of a lane and checks what becomes of it.
func (m *sim) wait(lane int, want State, reason Reason, change func(*simCall)) *simCall {
	m.t.Helper()
	c := m.call("b", 10)
	c.Lane = lane
	if change != nil {
		change(c)
	}
	if v := m.submit(m.since(), c); v.State != want || v.Reason != reason || v.State == Refused && v.Wait <= 0 {
		m.t.Fatalf("a call of lane %d = %+v, want %v %q", lane, v, want, reason)
	}
	return c
}

func TestC14TheLowestPriorityIsDisplacedFirst(t *testing.T) {
	m := newSim(t, crowded())
	lowHead := m.wait(0, Queued, ReasonNone, nil)
	lowFirst := m.wait(0, Queued, ReasonNone, func(c *simCall) { c.Deadline = origin.Add(time.Hour) })
	lowLast := m.wait(0, Queued, ReasonNone, nil)
	midHead := m.wait(1, Queued, ReasonNone, nil)
	mid := m.wait(1, Queued, ReasonNone, nil)
	m.wait(2, Queued, ReasonNone, nil)
	// Nobody of one's own priority or a higher one gives way.
	m.wait(0, Refused, ReasonQueueFull, nil)
	for i, want := range []*simCall{lowLast, lowFirst, mid} {
		m.wait(2, Queued, ReasonNone, nil)
		if next, ok := m.s.Next(m.now); !ok || !next.Equal(m.now) {
			t.Fatalf("%d: who was displaced is to be told at %v %v", i, next.Sub(origin), ok)
		}
		m.runTo(m.since())
		if v := want.Verdict(); v.State != Refused || v.Reason != ReasonDisplaced || v.Wait <= 0 || v.Bucket != m.id("b") {
			t.Fatalf("%d: %+v", i, v)
		}
		if m.displaced != i+1 {
			t.Fatalf("%d were told, want %d", m.displaced, i+1)
		}
	}
	// Only heads are left below, and they stay.
	m.wait(2, Refused, ReasonQueueFull, nil)
	if lowHead.Verdict().State != Queued || midHead.Verdict().State != Queued {
		t.Errorf("a committed head was displaced: %+v %+v", lowHead.Verdict(), midHead.Verdict())
	}
	var snap Snapshot
	m.s.Snapshot(m.now, &snap)
	low, mids := snap.Lanes[0], snap.Lanes[1]
	if low.Displaced != 2 || low.Refused != 3 || mids.Displaced != 1 || snap.Lanes[2].Displaced != 0 || snap.Lanes[2].Queued != 4 {
		t.Errorf("snapshot %+v", snap.Lanes)
	}
}

func TestBytesDisplaceAsManyAsNeededOrNobody(t *testing.T) {
	m := newSim(t, crowded())
	bytes := func(n int64) func(*simCall) { return func(c *simCall) { c.Bytes = n } }
	head := m.wait(0, Queued, ReasonNone, bytes(40))
	first := m.wait(0, Queued, ReasonNone, bytes(30))
	second := m.wait(0, Queued, ReasonNone, bytes(30))
	// 61 do not fit beside the head's 40, so nobody goes for them.
	m.wait(2, Refused, ReasonQueueFull, bytes(61))
	m.runTo(0)
	if m.displaced != 0 {
		t.Fatal("displaced for a call that did not fit")
	}
	m.wait(1, Queued, ReasonNone, bytes(25))
	m.runTo(0)
	if m.displaced != 1 || second.Verdict().Reason != ReasonDisplaced || first.Verdict().State != Queued {
		t.Fatalf("%d displaced for 25 bytes", m.displaced)
	}
	m.wait(2, Queued, ReasonNone, bytes(35))
	m.runTo(0)
	if m.displaced != 2 || first.Verdict().Reason != ReasonDisplaced || head.Verdict().State != Queued || m.s.bytes != 100 {
		t.Fatalf("%d displaced, %d bytes wait", m.displaced, m.s.bytes)
	}
}

func TestALanesOwnBoundIsNobodyElses(t *testing.T) {
	cfg := crowded()
	cfg.Lanes[2].MaxDepth, cfg.Lanes[1].MaxBytes = 1, 20
	m := newSim(t, cfg)
	m.wait(0, Queued, ReasonNone, nil)
	m.wait(0, Queued, ReasonNone, nil)
	m.wait(2, Queued, ReasonNone, nil)
	m.wait(2, Refused, ReasonQueueFull, nil)
	m.wait(1, Queued, ReasonNone, func(c *simCall) { c.Bytes = 15 })
	m.wait(1, Refused, ReasonQueueFull, func(c *simCall) { c.Bytes = 6 })
	m.wait(1, Queued, ReasonNone, func(c *simCall) { c.Bytes = 5 })
	m.runTo(0)
	if m.displaced != 0 {
		t.Errorf("%d calls of lanes with room were displaced", m.displaced)
	}
}

// A retry was accepted once: it is displaced by nobody, and finds its place also in full queues.
func TestARetryIsNotDisplacedAndAlwaysFindsRoom(t *testing.T) {
	cfg := crowded()
	cfg.Buckets[0].StartEmpty = false
	m := newSim(t, cfg)
	m.onAdmit = func(*simCall) {}
	a := m.call("b", 60)
	m.submit(0, a)
	m.wait(0, Admitted, ReasonNone, func(c *simCall) { c.Costs[0].Amount = 40 })
	m.wait(0, Queued, ReasonNone, nil)
	for range 5 {
		m.wait(2, Queued, ReasonNone, nil)
	}
	m.s.Settle(&a.Call, nil, m.now)
	if v := m.s.Retry(&a.Call, m.now, m.now); v.State != Queued {
		t.Fatalf("retry = %+v", v)
	}
	m.wait(2, Refused, ReasonQueueFull, nil)
	m.runTo(0)
	if m.displaced != 0 || a.Verdict().State != Queued {
		t.Errorf("%d displaced, the retry is %+v", m.displaced, a.Verdict())
	}
}

// What a caller can say or do gives no call a better place than its lane's: neither a deadline, nor a lane that there is
// not, nor an age, nor a retry of what never went.
func TestNoCallPromotesItself(t *testing.T) {
	m := newSim(t, crowded())
	for range 6 {
		m.wait(1, Queued, ReasonNone, nil)
	}
	for name, change := range map[string]func(*simCall){
		"deadline": func(c *simCall) { c.Deadline = origin.Add(10 * time.Minute) },
		"age":      func(c *simCall) { c.Arrival = origin.Add(-time.Hour) },
		"size":     func(c *simCall) { c.Costs[0].Amount, c.Bytes = 0.001, 0 },
		"held":     func(c *simCall) { c.NotBefore = origin.Add(time.Second) },
	} {
		for _, lane := range []int{0, 1} {
			t.Log(name, lane)
			m.wait(lane, Refused, ReasonQueueFull, change)
		}
	}
	refused := m.wait(1, Refused, ReasonQueueFull, nil)
	if v := m.s.Retry(&refused.Call, m.now, m.now); v.State != Refused || v.Reason != ReasonQueueFull {
		t.Errorf("a retry of a refused call = %+v", v)
	}
	if v := m.s.Retry(&m.call("b", 1).Call, m.now, m.now); v.State != Refused || v.Reason != ReasonQueueFull {
		t.Errorf("a retry of a call that never came = %+v", v)
	}
	m.runTo(0)
	if m.displaced != 0 {
		t.Errorf("%d displaced", m.displaced)
	}
	// A lane that there is not is the default one, the last: where that is the lowest, so is the call.
	cfg := crowded()
	cfg.Lanes[0], cfg.Lanes[2] = cfg.Lanes[2], cfg.Lanes[0]
	m = newSim(t, cfg)
	for range 6 {
		m.wait(1, Queued, ReasonNone, nil)
	}
	for _, lane := range []int{-1, 3, 1 << 30} {
		m.wait(lane, Refused, ReasonQueueFull, nil)
	}
}

// Who would be refused anyway displaces nobody.
func TestWhoCannotStartInTimeDisplacesNobody(t *testing.T) {
	m := newSim(t, crowded())
	for range 6 {
		m.wait(0, Queued, ReasonNone, nil)
	}
	m.wait(2, Refused, ReasonDeadline, func(c *simCall) { c.Deadline = origin.Add(time.Second) })
	m.runTo(0)
	if m.displaced != 0 {
		t.Errorf("%d displaced", m.displaced)
	}
}

// An edit that lowers the bounds refuses nobody who waits, and counts from then on.
func TestBoundsThatShrinkRefuseOnlyNewcomers(t *testing.T) {
	m := newSim(t, crowded())
	for range 6 {
		m.wait(0, Queued, ReasonNone, nil)
	}
	cfg := crowded()
	cfg.MaxDepth = 2
	m.apply(0, cfg)
	if m.s.depth != 6 {
		t.Fatalf("%d of 6 wait after the edit", m.s.depth)
	}
	m.wait(0, Refused, ReasonQueueFull, nil)
	// A higher one takes the places of all that are too many.
	m.wait(2, Queued, ReasonNone, nil)
	m.runTo(0)
	if m.displaced != 5 || m.s.depth != 2 {
		t.Errorf("%d displaced, %d wait", m.displaced, m.s.depth)
	}
}
