// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import "math"

// claim is what a lane takes or keeps of a bucket by t seconds from now: min(from + slope·t, most + tail·t), where
// the tail is not steeper than the slope.
type claim struct {
	from, slope, most, tail float64
}

func (c claim) at(t float64) float64 { return min(c.from+c.slope*t, c.most+c.tail*t) }

// slopeBefore is the slope just before t.
func (c claim) slopeBefore(t float64) float64 {
	if c.from+c.slope*t > c.most+c.tail*t {
		return c.tail
	}
	return c.slope
}

// accepting is the claim of lane j where a call is to be accepted. A lane with waiting calls may take everything
// until they are gone and its hold is full again, an idle one only fills its hold; from then on each takes what
// it has taken lately. So a lane that has long been idle leaves its rate to the others.
func (b *bucket) accepting(j int, clock int64) claim {
	c := b.pruning(j, clock)
	c.tail = min(b.accounts[j].use.rate(clock), b.Rate)
	c.slope = max(c.slope, c.tail)
	return c
}

// pruning is the claim of lane j where an accepted call is to be given up: no further calls are assumed.
func (b *bucket) pruning(j int, _ int64) claim {
	a := &b.accounts[j]
	slope := a.share * b.Rate
	if a.queued > 0 {
		slope = b.Rate
	}
	return claim{a.positive(), slope, max(a.queued+a.hold, a.positive()), 0}
}

// keeping is the claim of lane j against a borrower: its credit as it grows.
func (b *bucket) keeping(j int, _ int64) claim {
	a := &b.accounts[j]
	return claim{a.positive(), a.share * b.Rate, max(a.ceiling(), a.positive()), 0}
}

// view looks at a bucket from one lane: what the claims of all others leave it, and of its own credit what is
// put aside for older heads.
type view struct {
	lane  int
	of    func(*bucket, int, int64) claim
	aside claim
}

// free is what is left after t seconds, and the slope just before t.
func (b *bucket) free(v *view, t float64) (left, slope float64) {
	left, slope = b.level+b.Rate*t-v.aside.at(t), b.Rate-v.aside.slopeBefore(t)
	for j := range b.accounts {
		if j == v.lane {
			continue
		}
		c := v.of(b, j, b.at)
		left -= c.at(t)
		slope -= c.slopeBefore(t)
	}
	return left, slope
}

// freeAfter is the time from which on at least need is left free. What is left is convex in time (claims end, none
// begins), so Newton's method from the right meets it exactly, in at most one step for each claim.
func (b *bucket) freeAfter(v *view, need float64) float64 {
	if b.Rate <= 0 {
		if left, _ := b.free(v, 0); left+b.eps >= need {
			return 0
		}
		return math.Inf(1)
	}
	t, slope := need-b.level+v.aside.most, b.Rate
	for j := range b.accounts {
		if j != v.lane {
			c := v.of(b, j, b.at)
			t, slope = t+c.most, slope-c.tail
		}
	}
	if slope <= b.Rate*1e-9 {
		return math.Inf(1)
	}
	t /= slope
	for range len(b.accounts) + 3 {
		if t <= 0 {
			return 0
		}
		left, slope := b.free(v, t)
		if slope <= b.Rate*1e-9 {
			// To the left of here it only rises: need is left at every time before.
			return 0
		}
		step := (left - need) / slope
		t -= step
		if step <= t*1e-12 {
			break
		}
	}
	return max(t, 0)
}

// ownAfter is the time after which lane i's own rate alone has brought need, however much the others want.
func (b *bucket) ownAfter(i int, need float64) float64 {
	a := &b.accounts[i]
	return max(after(need-a.credit, a.share*b.Rate, b.eps), after(need-b.level, b.Rate, b.eps))
}

// after is how long a rate takes to bring an amount.
func after(amount, rate, eps float64) float64 {
	switch {
	case amount <= eps:
		return 0
	case rate <= 0:
		return math.Inf(1)
	}
	return amount / rate
}
