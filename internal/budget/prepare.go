// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

// prepare works out what a call takes, sorted by bucket, one entry a bucket.
func (s *Scheduler) prepare(c *Call) {
	s.release(c)
	if c.holds == nil {
		c.holds = c.inline[:0]
	}
	i := c.home().index
	for _, cost := range c.Costs {
		b := s.bucket(cost.Bucket)
		if b == nil {
			continue
		}
		s.refill(b)
		amount := finite(cost.Amount)
		if !c.brought(b) {
			b.account(i).seen(min(amount, b.Capacity), s.clock)
		}
		c.add(b, amount)
	}
	for k := range c.holds {
		h := &c.holds[k]
		if h.amount > h.bucket.Capacity {
			h.amount = h.bucket.fit(h.amount, c.atLeast(h.bucket))
		}
		h.bucket.refs++
		h.bucket.used = s.clock
	}
}

// brought says that the bucket was fed what the call takes, so that it is none of what the others can expect.
func (c *Call) brought(b *bucket) bool { return c.Granted && b.Fed }

// add puts an amount on a bucket into the sorted holds.
func (c *Call) add(b *bucket, amount float64) {
	k := len(c.holds)
	for k > 0 && c.holds[k-1].bucket.id > b.id {
		k--
	}
	if k > 0 && c.holds[k-1].bucket == b {
		c.holds[k-1].amount += amount
		return
	}
	c.holds = append(c.holds, hold{})
	copy(c.holds[k+1:], c.holds[k:])
	c.holds[k] = hold{bucket: b, amount: amount, era: b.era}
}

// release drops the call's references to its buckets.
func (s *Scheduler) release(c *Call) {
	for k := range c.holds {
		c.holds[k].bucket.refs--
		c.holds[k].bucket = nil
	}
	c.holds = c.holds[:0]
}

// fit is what a call above the capacity takes: the capacity, and as far as the limit allows what it costs at the
// least. A cap is not waited for, so nothing is collected there beyond its capacity.
func (b *bucket) fit(amount, atLeast float64) float64 {
	switch {
	case b.Capacity == 0:
		// The share is nothing, for now.
		return min(amount, b.Limit)
	case b.Kind == Slots, b.caps():
		return b.Capacity
	}
	return max(b.Capacity, min(atLeast, b.Limit))
}

// impossible says whether the call can never go: a bucket lets nothing pass, or the lower bound of the estimate
// exceeds a limit.
func (c *Call) impossible() (Reason, *bucket) {
	for k := range c.holds {
		b := c.holds[k].bucket
		if b.Limit <= 0 {
			return ReasonNothing, b
		}
		if c.holds[k].amount >= b.Capacity && c.atLeast(b) > b.Limit {
			return ReasonTooLarge, b
		}
	}
	return ReasonNone, nil
}

func (c *Call) atLeast(b *bucket) float64 {
	sum := 0.0
	for _, cost := range c.Costs {
		if cost.Bucket == b.id {
			sum += finite(cost.AtLeast)
		}
	}
	return sum
}

// capped returns the cap that is used up for this call's lane: caps refuse, they do not queue.
func (s *Scheduler) capped(c *Call) *bucket {
	for k := range c.holds {
		if h := &c.holds[k]; h.bucket.caps() && s.testHold(c, h) == lacks {
			return h.bucket
		}
	}
	return nil
}
