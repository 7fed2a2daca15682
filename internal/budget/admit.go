// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

// fit is how a call stands to its buckets.
type fit uint8

const (
	lacks fit = iota
	borrows
	entitled
)

// fits is test but for the order of those that borrow.
func (s *Scheduler) fits(c *Call) (fit, *bucket) {
	got := entitled
	for k := range c.holds {
		h := &c.holds[k]
		s.refill(h.bucket)
		f := s.testHold(c, h)
		if f == lacks {
			return lacks, h.bucket
		}
		got = min(got, f)
	}
	return got, nil
}

// test says whether the call may go now, and if not which bucket it lacks: none, if it could borrow but yields.
// Bucket by bucket the lane's credit or what nobody claims may serve; only a call that its credit serves everywhere is
// entitled.
func (s *Scheduler) test(c *Call) (fit, *bucket) {
	got, b := s.fits(c)
	if got == borrows && s.yields(c) {
		return lacks, nil
	}
	return got, b
}

// testHold is test on one bucket that is up to date.
func (s *Scheduler) testHold(c *Call, h *hold) fit {
	b := h.bucket
	if b.level+b.eps < h.amount {
		return lacks
	}
	if c.Granted && b.Kind == Continuous {
		return entitled
	}
	i := c.lane.index
	credit := b.account(i).credit
	aside := s.aside(c, b)
	if credit-aside+b.eps >= h.amount {
		return entitled
	}
	if b.level-h.amount+b.eps >= b.others(i)+min(aside, max(credit, 0)) || b.goesFull(i, h.amount) {
		return borrows
	}
	return lacks
}

// goesFull says whether a call that has no room beside what the other lanes keep may go because the bucket is
// full: for such a call it never gets better.
func (b *bucket) goesFull(i int, amount float64) bool {
	return b.Kind == Continuous && b.level+b.eps >= b.Capacity && amount > b.Capacity-b.othersHold(i)+b.eps
}

// aside is what the lane's credit owes to heads that come before this call: those that were committed before it, as
// queues of one lane share its credit and an older head must not starve on the smaller calls of another queue; and the
// head of its own queue, which it can pass only while that sleeps.
func (s *Scheduler) aside(c *Call, b *bucket) float64 {
	l := c.lane
	if l.heads == 0 || l.heads == 1 && c.node != nil && c.node.place == first {
		return 0
	}
	sum := 0.0
	for _, q := range l.queues {
		if q.head == nil || q.head.call == c {
			continue
		}
		if q.head.call.seq > c.rank() && !q.serves(c) {
			continue
		}
		if b.Kind == Slots && q.head.wake > s.clock {
			// A retry before its time keeps no slot.
			continue
		}
		if k := q.find(b); k >= 0 {
			sum += q.head.call.holds[k].amount
		}
	}
	return sum
}

// take charges a call to all its buckets: L −= c; e ← max(0, e − c), but never below what older heads of the
// lane are owed. The buckets are up to date.
func (s *Scheduler) take(c *Call) {
	l := c.home()
	for k := range c.holds {
		h := &c.holds[k]
		b := h.bucket
		a := b.account(l.index)
		floor := min(a.credit, s.aside(c, b))
		full := b.goesFull(l.index, h.amount)
		b.level -= h.amount
		b.ceiling -= h.amount
		b.reserved += h.amount
		h.era = b.era
		if b.Kind == Slots {
			a.inUse.add(h.amount)
			a.reslot(b.Capacity)
			continue
		}
		b.setCredit(a, max(floor, a.credit-h.amount))
		if !c.brought(b) {
			a.use.add(h.amount, s.clock)
		}
		if full || c.Granted {
			s.round++
			b.back()
		}
	}
	l.admitted++
	c.verdict = Verdict{State: Admitted, Bucket: NoBucket}
}
