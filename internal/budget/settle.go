// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import "time"

// Settle ends an admitted call: it charges what was really spent instead of what was reserved, and gives slots
// back. A bucket that actual does not name is charged what was reserved; one that the call did not reserve on is
// charged as named. It acts once; for a call that is not admitted it changes nothing and returns false.
func (s *Scheduler) Settle(c *Call, actual []Cost, now time.Time) bool {
	s.tick(now)
	if c.verdict.State != Admitted {
		return false
	}
	s.settle(c, actual)
	return true
}

func (s *Scheduler) settle(c *Call, actual []Cost) {
	s.reserve(c, actual)
	for k := range c.holds {
		h := &c.holds[k]
		s.refill(h.bucket)
		h.bucket.reserved = max(0, h.bucket.reserved-h.amount)
		if h.bucket.Kind == Slots {
			s.vacate(c, h)
			continue
		}
		spent := h.amount
		if amount, ok := total(actual, h.bucket.id); ok {
			spent = amount
		}
		h.bucket.spent += spent
		if spent > h.amount {
			s.overspend(c, h, spent-h.amount)
		} else {
			s.refund(c, h, h.amount-spent)
		}
	}
	s.release(c)
	c.verdict = Verdict{State: Settled, Bucket: NoBucket}
}

// Charge raises what an admitted call holds, each cost by its amount, while it produces more than was reserved.
// It may put a level below zero.
func (s *Scheduler) Charge(c *Call, more []Cost, now time.Time) {
	s.tick(now)
	if c.verdict.State != Admitted {
		return
	}
	s.reserve(c, more)
	for _, cost := range more {
		h := c.holding(s.bucket(cost.Bucket))
		if h == nil || h.bucket.Kind == Slots {
			continue
		}
		amount := finite(cost.Amount)
		s.refill(h.bucket)
		h.amount += amount
		h.bucket.reserved += amount
		s.overspend(c, h, amount)
	}
}

// reserve makes holds of nothing on the buckets of costs that the call has none on.
func (s *Scheduler) reserve(c *Call, costs []Cost) {
	for _, cost := range costs {
		b := s.bucket(cost.Bucket)
		if b != nil && b.Kind == Continuous && c.holding(b) == nil {
			b.refs++
			c.add(b, 0)
		}
	}
}

func (c *Call) holding(b *bucket) *hold {
	for k := range c.holds {
		if b != nil && c.holds[k].bucket == b {
			return &c.holds[k]
		}
	}
	return nil
}

// total adds up the amounts for one bucket; false if there is none.
func total(costs []Cost, id BucketID) (sum float64, ok bool) {
	for _, cost := range costs {
		if cost.Bucket == id {
			sum, ok = sum+finite(cost.Amount), true
		}
	}
	return sum, ok
}

// overspend takes more than was reserved. The payer's credit pays; it goes below zero only as far as the credits
// of the other lanes would otherwise not be backed by the level.
func (s *Scheduler) overspend(c *Call, h *hold, amount float64) {
	if amount <= 0 {
		return
	}
	b, i := h.bucket, c.home().index
	a := b.account(i)
	b.level -= amount
	b.ceiling -= amount
	a.use.add(amount, s.clock)
	b.setCredit(a, max(a.credit-amount, min(max(a.credit-amount, 0), b.level-b.others(i))))
	s.stirBucket(b)
}

// refund gives back what was not spent. A reservation from before an outside fact about the level lifts it no
// higher than that fact allows, and what comes back is the payer's credit.
func (s *Scheduler) refund(c *Call, h *hold, amount float64) {
	if amount <= 0 {
		return
	}
	b, i := h.bucket, c.home().index
	old, top := b.level, b.top()
	if h.era == b.era {
		b.ceiling = min(top, b.ceiling+amount)
		b.level = min(top, b.level+amount)
	} else {
		b.level = max(old, min(top, b.level+amount, b.ceiling))
	}
	a := b.account(i)
	a.use.add(-amount, s.clock)
	raised := min(a.ceiling(), a.credit+amount)
	b.setCredit(a, max(a.credit, min(raised, b.level-b.others(i))))
}

// vacate gives slots back.
func (s *Scheduler) vacate(c *Call, h *hold) {
	h.bucket.account(c.home().index).inUse.remove(h.amount)
	h.bucket.recount()
}
