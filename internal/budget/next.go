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
		got := s.testHold(c, h)
		if got < need && (got != lacks || !h.bucket.caps()) {
			// Who finds a cap used up is refused at once.
			wait = max(wait, s.holdReady(c, h, need))
		}
		if math.IsInf(wait, 1) {
			break
		}
	}
	return wait
}

// holdReady is when one bucket serves the call as needed, which it does not now, or sooner: by its lane's credit, or by
// what the others leave while the bucket fills (once it is full what is left only shrinks).
func (s *Scheduler) holdReady(c *Call, h *hold, need fit) float64 {
	b := h.bucket
	if b.Kind == Slots || b.Fed {
		return math.Inf(1)
	}
	i := b.pos(c.lane.index)
	if b.brims() && b.settles() {
		if c.Granted || h.amount > b.level+b.eps {
			return b.changes()
		}
		return b.hasAfter(i, h.amount+s.aside(c, b))
	}
	v := &s.single
	passes := b.foresee(v, c.lane.index)
	if c.Granted {
		return b.fillsTo(v, h.amount)
	}
	mine := &v.claims[len(v.claims)-1]
	a, aside, ready := &b.accounts[i], s.aside(c, b), math.Inf(1)
	if h.amount+aside <= a.ceiling()+b.eps {
		ready = max(b.creditAfter(v, i, h.amount+aside, v.own), b.fillsTo(v, h.amount))
	}
	if need == borrows {
		// Of its own it leaves only what is set aside.
		mine.from, mine.most = min(mine.from, aside), min(mine.most, aside)
		if full := b.fillsTo(v, b.brim()); full > 0 && v.freeAfter(h.amount-b.eps) <= full {
			ready = min(ready, v.freeAfter(h.amount), full)
		}
		if h.amount > v.room {
			ready = min(ready, b.fillsTo(v, max(b.Capacity, h.amount)))
		}
	}
	return min(ready, passes)
}

// foresee looks at a bucket as it goes on by itself, the lane's own claim last, and returns for how long it does: until one more
// lane of a group is full, and what it was passing on goes elsewhere.
func (b *bucket) foresee(v *view, lane int) float64 {
	b.look(v, lane, keeping)
	i := b.pos(lane)
	v.claims = append(v.claims, b.claim(i, i, keeping))
	b.passOn(v, i)
	if b.level+b.eps >= b.brim() {
		v.rate = 0
	}
	until := math.Inf(1)
	for k := range b.reserves {
		until = min(until, b.reserves[k].fills(b, v, i))
	}
	return until
}

// brim is how far the level rises by itself.
func (b *bucket) brim() float64 { return min(b.top(), max(b.filling, b.level)) }

// fillsTo is when the level is so high, if it ever is by itself.
func (b *bucket) fillsTo(v *view, level float64) float64 {
	if level > b.brim()+b.eps {
		return math.Inf(1)
	}
	return after(level-b.level, v.rate, b.eps)
}

// creditAfter is when an account has so much, growing so fast. What it owes ends sooner than it could pay, as soon as the level
// covers what the others keep, but by no less than a nanosecond's refill.
func (b *bucket) creditAfter(v *view, i int, credit, slope float64) float64 {
	a := &b.accounts[i]
	ready := after(credit-a.credit, slope, b.eps)
	if a.credit < 0 {
		ready = min(ready, max(v.freeAfter(0), 1e-9)+after(credit, slope, b.eps))
	}
	return ready
}
