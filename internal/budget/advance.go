// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import "time"

// Advance brings everything up to now and appends the waiting calls that were decided: admitted ones and refused
// ones. The order is: refill; drop what expired; admit the entitled, oldest first; then lend, by
// priority and virtual time; until nothing moves. Call it whenever Next is due, which includes at once after a call left or settled.
func (s *Scheduler) Advance(now time.Time, decided []*Call) []*Call {
	s.tick(now)
	for i := 0; i < len(s.active); i++ {
		q := s.active[i]
		s.rouse(q)
		s.expire(q)
		if q.n > 0 && q.stale && s.clock >= q.revalueAt() {
			s.review(q)
		}
		if q.n == 0 {
			i--
		}
	}
	s.round++
	for s.step() {
	}
	decided = append(decided, s.done...)
	clear(s.done)
	s.done = s.done[:0]
	return decided
}

// expire refuses the waiting calls whose last start has passed.
func (s *Scheduler) expire(q *queue) {
	for q.head != nil && q.head.startBy < s.clock {
		s.drop(q.head, ReasonQueueExpired, nil)
	}
	for q.root != nil && q.root.soonest < s.clock {
		s.drop(q.root.expired(s.clock), ReasonQueueExpired, nil)
	}
}

// expired finds a node with startBy before the clock; there is one.
func (n *node) expired(clock int64) *node {
	for n.startBy >= clock {
		if n.left != nil && n.left.soonest < clock {
			n = n.left
		} else {
			n = n.right
		}
	}
	return n
}

// step admits the best candidate; it reports whether anything moved. A queue whose call lacks something is not looked at
// again in a round: while calls are admitted levels only fall, faster than what other lanes claim.
func (s *Scheduler) step() bool {
	s.steps++
	for {
		best, fit, dropped := s.best()
		switch {
		case dropped:
			return true
		case best == nil:
			return false
		case fit == borrows && s.yields(best.call):
			best.queue.yielded = s.steps
			continue
		}
		best.queue.lane.stuck(s.round - 1)
		s.admit(best, fit)
		return true
	}
}

// best is the candidate that goes first if it does not yield. A call that finds a cap used up is dropped.
func (s *Scheduler) best() (best *node, bestFit fit, dropped bool) {
	for _, q := range s.active {
		if q.stuck == s.round || q.yielded == s.steps {
			continue
		}
		n := q.candidate(s.clock)
		if n == nil {
			continue
		}
		got, b := s.fits(n.call)
		switch {
		case got != lacks:
			if best == nil || got.before(n.call, bestFit, best.call) {
				best, bestFit = n, got
			}
		case b.caps():
			s.round++
			s.drop(n, ReasonCapReached, b)
			return nil, lacks, true
		default:
			q.stuck = s.round
		}
	}
	return best, bestFit, false
}

// stuck notes for all queues of the lane in which round their calls lacked something.
func (l *lane) stuck(round uint64) {
	for _, q := range l.queues {
		q.stuck = round
	}
}

// admit lets a waiting call go.
func (s *Scheduler) admit(n *node, got fit) {
	c := n.call
	if got == borrows {
		s.borrow(c)
	}
	s.take(c)
	i := c.lane.index
	for _, h := range c.holds {
		h.bucket.account(i).served += h.amount
	}
	s.leave(c)
	s.done = append(s.done, c)
}
