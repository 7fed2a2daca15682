// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"math"
	"time"
)

// Next is when Advance should run again; false if only a call that leaves or settles can change anything.
func (s *Scheduler) Next(now time.Time) (time.Time, bool) {
	s.tick(now)
	at := s.dueAt()
	if at >= forever {
		return time.Time{}, false
	}
	return s.epoch.Add(time.Duration(max(at, s.clock))), true
}

// dueAt is when something moves if nothing comes between.
func (s *Scheduler) dueAt() int64 {
	if len(s.done) > 0 {
		return s.clock
	}
	at := forever
	if p := &s.pressure; p.nearlyFull && p.crossing && s.depth > 0 {
		// Then the lanes that are paused borrow again.
		at = p.since + dwell
	}
	for _, q := range s.active {
		at = min(at, s.queueDueAt(q))
	}
	return at
}

func (s *Scheduler) queueDueAt(q *queue) int64 {
	at := forever
	if q.stale {
		at = q.revalueAt()
	}
	if q.root != nil {
		at = min(at, q.root.soonest+1)
	}
	if len(q.sleepers) > 0 {
		at = min(at, q.sleepers[0].wake)
	}
	if h := q.head; h != nil {
		at = min(at, h.startBy+1)
		if h.wake > s.clock {
			at = min(at, h.wake)
		}
	}
	if n := q.candidate(s.clock); n != nil {
		at = min(at, s.readyAt(n.call))
	}
	return at
}

// readyAt is when the call passes test if nothing else moves. A lack of slots has no time.
func (s *Scheduler) readyAt(c *Call) int64 {
	wait := s.readyIn(c, borrows)
	if wait == 0 {
		if wait = s.yieldsFor(c); wait > 0 {
			wait = min(wait, s.readyIn(c, entitled))
		}
	}
	if math.IsInf(wait, 1) {
		return forever
	}
	return s.clock + nanoseconds(wait)
}

// readyIn is when all the call's buckets serve it as needed, in seconds.
func (s *Scheduler) readyIn(c *Call, need fit) float64 {
	wait := 0.0
	for k := range c.holds {
		h := &c.holds[k]
		s.refill(h.bucket)
		if got := s.testHold(c, h); got < need {
			wait = max(wait, s.holdReady(c, h, got, need))
		}
		if math.IsInf(wait, 1) {
			break
		}
	}
	return wait
}

// holdReady is when one bucket serves the call, which now has got less than it needs: by its lane's credit, or by what
// the others leave while the bucket fills (once it is full what is left only shrinks).
func (s *Scheduler) holdReady(c *Call, h *hold, got, need fit) float64 {
	b := h.bucket
	switch {
	case b.Kind == Slots, b.Fed:
		return math.Inf(1)
	case b.caps() && got == lacks:
		// It is refused at once.
		return 0
	case c.Granted:
		return after(h.amount-b.level, b.Rate, b.eps)
	}
	i := c.lane.index
	a := b.account(i)
	aside := s.aside(c, b)
	v := &s.single
	b.look(v, i, keeping)
	own, passes := b.ownSlope(i)
	v.own = own
	v.claims = append(v.claims, claim{from: min(a.positive(), aside), slope: v.own, most: aside})
	ready := math.Inf(1)
	if h.amount+aside <= a.ceiling()+b.eps {
		ready = min(v.ownAfter(h.amount+aside, h.amount), passes)
	}
	if need == entitled {
		return ready
	}
	if free := v.freeAfter(h.amount); free <= after(b.top()-b.level, b.Rate, b.eps) {
		ready = min(ready, free)
	}
	if h.amount > v.room {
		ready = min(ready, after(max(b.Capacity, h.amount)-b.level, b.Rate, b.eps))
	}
	return ready
}
