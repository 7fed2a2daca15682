// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import "time"

// Scheduler decides for one route. It is not safe for concurrent use: its owner holds a lock.
type Scheduler struct {
	epoch time.Time
	// clock is nanoseconds since epoch; it never goes back.
	clock int64

	// slots holds the buckets by the index part of their handle; free entries are nil.
	slots       []*bucket
	generations []int32
	byName      map[string]*bucket

	lanes []*lane
	// active are the queues with waiting calls.
	active  []*queue
	classes []*class
	groups  []*group
	// formerGroups are from before an edit; groupTime is the virtual time of the latest group that borrowed.
	formerGroups []*group
	groupTime    float64
	patient      bool
	// round numbers stretches of admissions in which nothing is set free, steps their admissions.
	round, steps uint64

	margin float64
	// maxDepth and maxBytes bound what waits in all lanes, lanePlaces is the sum of the lanes' own depths.
	maxDepth, lanePlaces int
	maxBytes             int64
	// depth and bytes are what waits in all lanes.
	depth    int
	bytes    int64
	pressure pressure

	commits, orders uint64
	random          uint32
	spare           *node
	// done are calls that were decided outside Advance.
	done []*Call
	// before and after are room for measure.
	before, after []float64
	views         []view
	single        view
}

// New makes a scheduler. Buckets start full unless they say otherwise, credits at zero.
func New(cfg Config, now time.Time) *Scheduler {
	s := &Scheduler{epoch: now, byName: map[string]*bucket{}, random: 2463534242}
	s.Apply(cfg, now)
	return s
}

// Submit asks for a call to go. The answer is Admitted, Queued or Refused; a queued call's end is told by
// Advance.
func (s *Scheduler) Submit(c *Call, now time.Time) Verdict {
	s.tick(now)
	if c.live() {
		return c.verdict
	}
	if c.Arrival.IsZero() {
		c.Arrival = now
	}
	c.seq, c.retried = 0, false
	c.lane = s.laneAt(c.Lane)
	s.prepare(c)
	if !c.Counted {
		for _, h := range c.holds {
			h.bucket.offered += h.amount
		}
	}
	return s.enter(c, false)
}

// Retry brings back a call whose attempt was settled (one still admitted is settled at what it holds). It keeps
// its lane, arrival, deadline, place and commitment, holds nothing while it waits and is not sent before notBefore.
// A call that never went has no place to keep: it is submitted like any other.
func (s *Scheduler) Retry(c *Call, notBefore, now time.Time) Verdict {
	s.tick(now)
	switch {
	case c.verdict.State == Queued:
		return c.verdict
	case c.verdict.State != Admitted && c.verdict.State != Settled:
		c.NotBefore = notBefore
		return s.Submit(c, now)
	case c.verdict.State == Admitted:
		s.settle(c, nil)
	}
	c.NotBefore, c.retried = notBefore, true
	s.prepare(c)
	return s.enter(c, true)
}

// enter decides a prepared call.
func (s *Scheduler) enter(c *Call, again bool) Verdict {
	if reason, b := c.impossible(); reason != ReasonNone {
		return s.refuse(c, reason, b, 0)
	}
	if b := s.capped(c); b != nil {
		return s.refuse(c, ReasonCapReached, b, s.timeToFit(c, c.holding(b), s.aside(c, b)))
	}
	if s.passes(c) {
		s.take(c)
		s.stir(c)
		return c.verdict
	}
	return s.enqueue(c, again || c.Granted)
}

// passes says whether a call may go without waiting: it overtakes nobody of its own queue, and where it
// borrows, no waiting head that may go by now is passed over.
func (s *Scheduler) passes(c *Call) bool {
	if s.startBy(c) < s.clock || s.wake(c) > s.clock {
		return false
	}
	for _, q := range c.home().queues {
		if !c.Granted && q.n > 0 && q.serves(c) && q.awake(s.clock) {
			return false
		}
	}
	got, _ := s.test(c)
	if got == borrows && len(s.active) > 0 && (s.patient || s.dueAt() <= s.clock) {
		return false
	}
	if got == borrows {
		s.borrow(c)
	}
	return got != lacks
}

// Cancel takes a waiting call out. What it waited for is free at the next Advance. A call that is not waiting is
// left as it is: an admitted one is to be settled.
func (s *Scheduler) Cancel(c *Call, now time.Time) {
	s.tick(now)
	if c.verdict.State != Queued {
		return
	}
	s.leave(c)
	s.release(c)
	c.home().cancelled++
	c.verdict = Verdict{State: Cancelled, Bucket: NoBucket}
}

// refuse ends a call that holds nothing.
func (s *Scheduler) refuse(c *Call, reason Reason, b *bucket, wait float64) Verdict {
	if h := c.holding(b); h != nil && h.amount > b.Capacity && reason == ReasonDeadline {
		b.want(h.amount, s.clock, wait)
	}
	s.release(c)
	c.home().refused++
	c.verdict = Verdict{State: Refused, Reason: reason, Bucket: NoBucket, Wait: duration(wait)}
	if b != nil {
		c.verdict.Bucket = b.id
	}
	return c.verdict
}

// duration converts seconds, rounded up to a nanosecond and bounded.
func duration(sec float64) time.Duration {
	return time.Duration(nanoseconds(sec))
}

func nanoseconds(sec float64) int64 {
	if !(sec > 0) {
		return 0
	}
	if sec >= maxSeconds {
		return int64(maxSeconds * 1e9)
	}
	// A tenth of a nanosecond is rounding, which eps covers.
	ns := sec*1e9 - 0.1
	whole := int64(ns)
	if float64(whole) < ns {
		whole++
	}
	return max(whole, 1)
}

func (s *Scheduler) laneAt(i int) *lane {
	if i < 0 || i >= len(s.lanes) {
		i = len(s.lanes) - 1
	}
	return s.lanes[i]
}
