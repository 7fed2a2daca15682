// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import "math"

// enqueue lets a call wait, or refuses it at once when it cannot start in time: nothing is parked to expire.
func (s *Scheduler) enqueue(c *Call, again bool) Verdict {
	l := c.home()
	q := l.queueOf(c)
	if reason := s.barred(c, again); reason != ReasonNone || q == nil {
		return s.turnAway(c, reason)
	}
	n := s.newNode(c, q)
	s.time(n)
	n.latest = c.latest(n.startBy)
	if s.patient {
		return s.waitOn(n)
	}
	s.room(len(q.buckets))
	s.look(q, accepting)
	wait, b, ok := s.seat(n, again)
	if !ok && s.refresh(l, wait == 0) {
		s.look(q, accepting)
		wait, b, ok = s.seat(n, again)
	}
	if !ok {
		s.recycle(n)
		return s.refuse(c, late(b), b, wait)
	}
	if !again && s.displace(c) {
		s.look(q, accepting)
	}
	s.value(n, accepting)
	c.node = n
	s.join(q, n)
	s.watch()
	s.stir(c)
	if again {
		// Nobody asked whether it makes others of its lane late.
		for _, q := range l.queues {
			q.stale = true
		}
	}
	if wait == 0 {
		// No rate keeps it waiting, but perhaps a slot.
		if _, lacking := s.test(c); lacking != nil {
			b = lacking
		}
	}
	c.verdict = Verdict{State: Queued, Bucket: NoBucket, Wait: duration(wait)}
	if b != nil {
		c.verdict.Bucket = b.id
	}
	return c.verdict
}

// waitOn lets a call wait of which nothing is predicted.
func (s *Scheduler) waitOn(n *node) Verdict {
	c := n.call
	s.displace(c)
	c.node = n
	s.join(n.queue, n)
	s.watch()
	c.verdict = Verdict{State: Queued, Bucket: NoBucket}
	return c.verdict
}

// barred is why a call may not wait, however long that would be. A retry has been accepted before.
func (s *Scheduler) barred(c *Call, again bool) Reason {
	switch {
	case again:
	case s.paused(c.lane):
		return ReasonLanePaused
	case c.lane.full(c) || !s.hasRoom(c):
		return ReasonQueueFull
	}
	return ReasonNone
}

// turnAway refuses a call that may not wait; without a reason, too many sets of buckets are waited for.
func (s *Scheduler) turnAway(c *Call, reason Reason) Verdict {
	wait, b := s.alone(c)
	switch reason {
	case ReasonLanePaused:
		wait = max(wait, s.resumeIn())
	default:
		reason = ReasonQueueFull
	}
	return s.refuse(c, reason, b, wait)
}

// late is why a call whose predicted start is past its last start is refused.
func late(b *bucket) Reason {
	if b != nil && b.caps() {
		return ReasonCapReached
	}
	return ReasonDeadline
}

// seat finds a place where the call starts in time and makes no accepted one late: by latest start, or at the
// end. A retry has its place already.
func (s *Scheduler) seat(n *node, again bool) (float64, *bucket, bool) {
	q := n.queue
	q.root.measure(n, s.before, s.after)
	wait, b := s.predict(n, s.before)
	if n.call.Granted {
		return wait, b, n.startBy >= s.clock
	}
	if !n.intime(s.clock, wait) {
		return wait, b, false
	}
	if again || !q.harms(n, s.after) {
		return wait, b, true
	}
	end := q.root.rightmost()
	if end == nil || n.latest >= end.latest {
		return s.behind(n.call, wait, b)
	}
	own := n.latest
	n.latest = end.latest
	q.root.measure(n, s.before, s.after)
	wait, b = s.predict(n, s.before)
	if n.intime(s.clock, wait) && !q.harms(n, s.after) {
		return wait, b, true
	}
	n.latest = own
	return s.behind(n.call, wait, b)
}

// behind is the answer to a call that would be in time and make others late: it fits behind all that wait.
func (s *Scheduler) behind(c *Call, wait float64, b *bucket) (float64, *bucket, bool) {
	if t, binding := s.alone(c); t > wait {
		return t, binding, false
	}
	return wait, b, false
}

// intime says whether a start after so many seconds is not too late. Nothing is, for a call without deadline; one
// that has not to wait needs no margin.
func (n *node) intime(clock int64, wait float64) bool {
	by := n.promise
	if wait == 0 {
		by = n.startBy
	}
	return by >= forever || !math.IsInf(wait, 1) && clock+nanoseconds(wait) <= by
}

// alone is when a call that may not wait would fit behind those that do.
func (s *Scheduler) alone(c *Call) (float64, *bucket) {
	wait := 0.0
	var binding *bucket
	for k := range c.holds {
		h := &c.holds[k]
		if h.bucket.Kind == Slots {
			continue
		}
		if t := s.timeToFit(c, h, h.bucket.account(c.lane.index).queued.sum); t > wait || binding == nil {
			wait, binding = t, h.bucket
		}
	}
	return wait, binding
}

// room makes before and after k long.
func (s *Scheduler) room(k int) {
	if cap(s.before) < k {
		s.before, s.after = make([]float64, k), make([]float64, k)
	}
	s.before, s.after = s.before[:k], s.after[:k]
}
