// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

// borrow advances the lane's virtual time by the call's dominant part of the whole: v += max_b c_b/R_b (all
// weights are equal for now). Slots have no rate and are left out.
func (s *Scheduler) borrow(c *Call) {
	l := c.home()
	l.v = max(l.v, s.v)
	s.v = l.v
	part := 0.0
	for _, h := range c.holds {
		if h.bucket.Rate > 0 {
			part = max(part, h.amount/h.bucket.Rate)
		}
	}
	l.v += part
	l.borrowed++
}

// before orders candidates: the entitled first, oldest commitment first; then borrowers by virtual time.
func (f fit) before(c *Call, g fit, d *Call) bool {
	switch {
	case f != g:
		return f > g
	case f == borrows && c.lane.v != d.lane.v:
		return c.lane.v < d.lane.v
	default:
		return c.rank() < d.rank()
	}
}
