// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import "math"

// Whoever may borrow first by the order goes first, but in continuous time that is not enough: a lane may count its own
// credit towards what it borrows and must leave the other's, so of two lanes with waiting calls the one that did not go
// last finds room first, and they would alternate whatever their priorities and weights. So a call does not borrow what
// a call before it in the order still lacks, where that one costs no more. Smaller calls go on borrowing beside a larger
// one that collects: it goes by its own credit, and they need not wait for it.

// precedes says whether the lane borrows before another one.
func (l *lane) precedes(m *lane) bool {
	switch {
	case l.group != m.group:
		return l.group.before(m.group)
	case l.class != m.class:
		return l.Priority > m.Priority
	}
	return l.turn() < m.turn()
}

// turn is the virtual time at which the lane would borrow.
func (l *lane) turn() float64 {
	if l.depth == 0 {
		return max(l.v, l.class.v)
	}
	return l.v
}

// yields says whether a call that could borrow must leave it to one before it in the order.
func (s *Scheduler) yields(c *Call) bool {
	for _, q := range s.active {
		if q.lane == c.lane || !q.lane.precedes(c.lane) {
			continue
		}
		n := q.candidate(s.clock)
		if n != nil && (s.outranks(q, c) || s.awaits(n.call, c)) {
			return true
		}
	}
	return false
}

// outranks says whether the call's lane is paused for a queue that needs one of its buckets. Where none does, nobody
// is served by leaving it there.
func (s *Scheduler) outranks(q *queue, c *Call) bool {
	return s.pressure.nearlyFull && q.lane.group == c.lane.group && q.lane.Priority > c.lane.Priority && q.meets(c)
}

// awaits says whether x, which comes before c, lacks what c would borrow and costs no more.
func (s *Scheduler) awaits(x, c *Call) bool {
	if x.lane.group != c.lane.group {
		return s.awaitsAmongGroups(x, c)
	}
	lacking := false
	for k := range x.holds {
		h := &x.holds[k]
		mine := c.holding(h.bucket)
		if mine == nil {
			continue
		}
		if h.amount > mine.amount {
			return false
		}
		lacking = lacking || s.lacksFor(x, h, c, mine)
	}
	return lacking
}

// awaitsAmongGroups is awaits where x is another group's: what it costs does not count, for groups are to have even parts
// of what is borrowed, but nobody waits for a call that lacks something else as well.
func (s *Scheduler) awaitsAmongGroups(x, c *Call) bool {
	lacking := false
	for k := range x.holds {
		h := &x.holds[k]
		s.refill(h.bucket)
		if s.testHold(x, h) != lacks {
			continue
		}
		mine := c.holding(h.bucket)
		if mine == nil {
			return false
		}
		lacking = lacking || s.testHold(c, mine) == borrows
	}
	return lacking
}

// lacksFor is awaits on one bucket that both need.
func (s *Scheduler) lacksFor(x *Call, h *hold, c *Call, mine *hold) bool {
	s.refill(h.bucket)
	return s.testHold(c, mine) == borrows && s.testHold(x, h) == lacks
}

// yieldsFor is how many seconds a call that could borrow must leave it, if nothing moves meanwhile: until those before
// it lack no more what it would take, or it no longer borrows there.
func (s *Scheduler) yieldsFor(c *Call) float64 {
	wait := 0.0
	for _, q := range s.active {
		if q.lane == c.lane || !q.lane.precedes(c.lane) {
			continue
		}
		n := q.candidate(s.clock)
		switch {
		case n == nil:
		case s.outranks(q, c):
			return math.Inf(1)
		case s.awaits(n.call, c):
			wait = max(wait, s.awaitsFor(n.call, c))
		}
	}
	return wait
}

// awaitsFor is when x lacks nothing any more that c would borrow: each bucket is there for x, or c's own. Where x is
// another group's, it is also when x begins to lack something that c does not need.
func (s *Scheduler) awaitsFor(x, c *Call) float64 {
	wait, ends := 0.0, math.Inf(1)
	for k := range x.holds {
		h := &x.holds[k]
		mine := c.holding(h.bucket)
		switch {
		case mine == nil && x.lane.group != c.lane.group:
			ends = min(ends, s.lacksAfter(x, h))
		case mine != nil && s.lacksFor(x, h, c, mine):
			wait = max(wait, min(s.holdReady(x, h, borrows), s.holdReady(c, mine, entitled)))
		}
	}
	return min(wait, ends)
}

// lacksAfter is how long at least a bucket goes on serving the call: until it is full what others leave does not
// shrink, from then on it shrinks as fast as their credits grow.
func (s *Scheduler) lacksAfter(c *Call, h *hold) float64 {
	b := h.bucket
	s.refill(b)
	got := s.testHold(c, h)
	if c.Granted || b.Kind == Slots || b.Fed || got == lacks || b.goesFull(c.lane.index, h.amount) || got == entitled && b.filling >= b.top() {
		return math.Inf(1)
	}
	v := &s.single
	ends := b.foresee(v, c.lane.index)
	if _, owed := b.sums(); got == entitled && owed == 0 && b.brims() {
		// No lane is full for long, and all together never grow faster than now.
		ends = math.Inf(1)
	}
	if b.wanted > max(b.Capacity, b.need) && b.at < b.wantedUntil {
		// What is collected for one who does not come back is given up then.
		ends = min(ends, seconds(b.wantedUntil-b.at))
	}
	if full := b.fillsTo(v, b.brim()); full > 0 {
		return min(full, ends)
	}
	aside := s.aside(c, b)
	if got == entitled {
		return min(ends, v.shrinksTo(h.amount+aside))
	}
	mine := &v.claims[len(v.claims)-1]
	mine.from, mine.most = min(mine.from, aside), min(mine.most, aside)
	claimed, slope := v.claimed()
	return min(ends, after(v.level-h.amount+v.eps-claimed, slope, 0))
}

// claimed is the sum of the claims, and how fast it grows.
func (v *view) claimed() (sum, slope float64) {
	for k := range v.claims {
		sum += v.claims[k].from
		if v.claims[k].from < v.claims[k].most {
			slope += v.claims[k].slope
		}
	}
	return sum, slope
}

// shrinksTo is when at the soonest a lane's credit is less than an amount, though it only grows, where the bucket fills no
// further than it has: from the moment that all credits claim the whole level, each that grows is at the cost of the others. Where
// they claim more, which the next gain ends, that is a nanosecond on.
func (v *view) shrinksTo(credit float64) float64 {
	claimed, slope := v.claimed()
	if claimed > v.level+v.eps && v.credit*v.level < (credit-v.eps)*claimed {
		return 1e-9
	}
	return max(0, after(v.level-claimed, slope, 0)) + after((v.credit-credit+v.eps)*v.level, v.credit*slope, 0)
}

// meets says whether the queue's calls and this one have a bucket in common.
func (q *queue) meets(c *Call) bool {
	for k := range c.holds {
		if q.find(c.holds[k].bucket) >= 0 {
			return true
		}
	}
	return false
}
