// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import "math"

// claim is what a lane takes or keeps of a bucket by t seconds from now: min(from + slope·t, most + tail·t), where
// the tail is not steeper than the slope.
type claim struct {
	from, slope, most, tail float64
}

func (c *claim) at(t float64) float64 { return min(c.from+c.slope*t, c.most+c.tail*t) }

// slopeBefore is the slope just before t.
func (c *claim) slopeBefore(t float64) float64 {
	if c.from+c.slope*t > c.most+c.tail*t {
		return c.tail
	}
	return c.slope
}

// stance is what a lane assumes of the others.
type stance uint8

const (
	// keeping: the others keep their credit as it grows. This is the borrow rule.
	keeping stance = iota
	// pruning: a lane with waiting calls may take what its pace allows until they are gone and its hold is full again,
	// an idle one only fills its hold; no further calls come. An accepted call that is late even so is given up.
	pruning
	// accepting: as pruning, but from each lane one more call may come, as large as its largest of late, and from
	// then on it takes what it has taken lately: only a lane that has long been idle leaves its rate to the others.
	// Whether a call is accepted is decided so.
	accepting
)

func (b *bucket) claim(j, i int, as stance) claim {
	a := &b.accounts[j]
	c := claim{from: a.positive(), slope: a.share * b.Rate}
	if as == keeping {
		if c.most = max(a.ceiling(), c.from); a.credit < 0 {
			// Nobody knows when it keeps something again: it may be forgiven before it has paid.
			c.slope, c.most = 0, 0
		}
		return c
	}
	c.most = max(a.queued.sum+a.hold, c.from)
	if a.queued.n > 0 {
		c.slope = b.pace(j, i)
	}
	if as == accepting {
		c.most = max(a.queued.sum+a.hold+a.recent.now(b.at), c.from)
		c.tail = min(a.use.rate(b.at), b.pace(j, i))
		c.slope = max(c.slope, c.tail)
	}
	return c
}

// pace is how much lane j can take of the bucket in a second while lane i wants it. Where j is of a lower priority, it
// only borrows before i while its calls are smaller than i's, see yields. What calls cost is averaged.
func (b *bucket) pace(j, i int) float64 {
	a, me := &b.accounts[j], &b.accounts[i]
	if a.priority < me.priority && a.mean() >= me.usual {
		return a.share * b.Rate
	}
	return b.Rate
}

// mean is what the lane's waiting calls cost on average, or its calls of late.
func (a *account) mean() float64 {
	if a.queued.n > 0 {
		return a.queued.sum / float64(a.queued.n)
	}
	return a.usual
}

// view is a bucket as one lane sees it. It stays valid until the bucket changes, and is reused.
type view struct {
	level, rate, eps float64
	// credit and own are the lane's e and r·R.
	credit, own float64
	// room is the capacity less what the others keep while idle: a larger call borrows only a full bucket, and
	// top is how full that is.
	room, top float64
	// contended says that another lane has waiting calls.
	contended bool
	served    float64
	claims    []claim
}

// look fills v with a bucket that is up to date.
func (b *bucket) look(v *view, i int, as stance) {
	i = b.pos(i)
	a := &b.accounts[i]
	v.level, v.rate, v.eps = b.level, b.Rate, b.eps
	v.credit, v.own, v.served = a.credit, a.share*b.Rate, a.served
	v.room, v.top, v.contended = b.Capacity+b.eps, b.top(), false
	v.claims = v.claims[:0]
	for j := range b.accounts {
		if j != i {
			v.room -= b.accounts[j].hold
			v.contended = v.contended || b.accounts[j].queued.n > 0
			v.claims = append(v.claims, b.claim(j, i, as))
		}
	}
}

// free is what the claims leave after t seconds, and the slope just before t.
func (v *view) free(t float64) (left, slope float64) {
	left, slope = v.level+v.rate*t, v.rate
	for j := range v.claims {
		left -= v.claims[j].at(t)
		slope -= v.claims[j].slopeBefore(t)
	}
	return left, slope
}

// freeAfter is the time from which on at least need is left free. What is left is convex in time (claims flatten,
// none steepens), so Newton's method from the right meets it exactly, in at most one step for each claim.
func (v *view) freeAfter(need float64) float64 {
	t, slope := need-v.level, v.rate
	for j := range v.claims {
		t, slope = t+v.claims[j].most, slope-v.claims[j].tail
	}
	if slope <= v.rate*1e-9 {
		if left, _ := v.free(0); v.rate == 0 && left+v.eps >= need {
			return 0
		}
		return math.Inf(1)
	}
	t /= slope
	for range len(v.claims) + 2 {
		if t <= 0 {
			return 0
		}
		left, slope := v.free(t)
		if slope <= v.rate*1e-9 {
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

// ownAfter is the time after which the lane's own rate has brought need of credit, and the bucket the level.
func (v *view) ownAfter(credit, level float64) float64 {
	return max(after(credit-v.credit, v.own, v.eps), after(level-v.level, v.rate, v.eps))
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

// fullAfter is when the bucket is full, or has so much.
func (v *view) fullAfter(c float64) float64 {
	if v.contended {
		return math.Inf(1)
	}
	rate := v.rate
	for j := range v.claims {
		rate -= v.claims[j].tail
	}
	return after(max(v.top, c)-v.level, rate, v.eps)
}

// supply is how much the lane can count on having taken within t seconds, for calls of which the last one costs c:
// its own rate is sure, and what others leave counts too. A call that has no room beside what they keep goes by
// its lane's own rate or when the bucket is full.
func (v *view) supply(t, c float64) float64 {
	own := min(v.credit+v.own*t, v.level+v.rate*t)
	if c > v.room {
		if v.fullAfter(c) <= t {
			return max(own, v.top, c)
		}
		return own
	}
	left, _ := v.free(t)
	return max(own, left)
}

// supplyAfter is the time after which supply has reached need.
func (v *view) supplyAfter(need, c float64) float64 {
	own := v.ownAfter(need, need)
	switch {
	case own == 0:
		return 0
	case c <= v.room:
		return min(own, v.freeAfter(need))
	case need <= max(v.top, c):
		return min(own, v.fullAfter(c))
	}
	return own
}
