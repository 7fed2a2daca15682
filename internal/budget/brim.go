// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import "math"

// A bucket that fills no further than it has, though it is not full, goes on giving lanes their parts: from the moment that all
// of the level is somebody's, each gain is at the cost of the others, for the credits are scaled to the level. So no lane is
// full for longer than a moment, and what a lane would have by its rate alone it may never have. After t seconds in which nothing
// moves account i has p(t)·min(1, L/Σp(t)), where p is what it would have if all that its lane earns counted, and what full lanes
// of its group pass on to it. Until it is full, p − c and p·L − c·Σp are convex in t, as Σp is concave: Newton's method from the
// right meets the moment from which on they are not below zero.

// brims says whether the level rises no further, though the bucket is not full.
func (b *bucket) brims() bool { return b.filling < b.top() && b.level+b.eps >= b.filling }

// over is what an account would have by its own rate beyond what it keeps, below zero if it has room, and how fast that grows.
func (b *bucket) over(j int, t float64) (x, slope float64) {
	a := &b.accounts[j]
	return min(0, a.credit-a.ceiling()) + a.share*b.Rate*t, a.share * b.Rate
}

// earned is p, as long as the account is not full, and its slope just before.
func (b *bucket) earned(i int, t float64) (sum, slope float64) {
	x, slope := b.over(i, t)
	sum = b.accounts[i].ceiling() + x
	passed, more, before := 0.0, 0.0, true
	for _, j := range b.kin(i) {
		if int(j) == i {
			before = false
			continue
		}
		// Those before it in the order have of what is passed on first.
		if x, s := b.over(int(j), t); before || x > 0 {
			passed, more = passed+x, more+s
		}
	}
	if passed > 0 {
		return sum + passed, slope + more
	}
	return sum, slope
}

// kin are the accounts that pass on to each other, the i-th among them; nil if it is alone.
func (b *bucket) kin(i int) []int32 {
	for k := range b.reserves {
		for _, j := range b.reserves[k].accounts {
			if int(j) == i {
				return b.reserves[k].accounts
			}
		}
	}
	return nil
}

// earnedByAll is Σp, less what is owed, and its slope just before.
func (b *bucket) earnedByAll(t float64) (sum, slope float64) {
	for j := range b.accounts {
		x, s := b.over(j, t)
		sum += b.accounts[j].ceiling() + min(x, 0)
		if x <= 0 {
			slope += s
		}
	}
	for k := range b.reserves {
		spare, room, up, down := 0.0, 0.0, 0.0, 0.0
		for _, j := range b.reserves[k].accounts {
			if x, s := b.over(int(j), t); x > 0 {
				spare, up = spare+x, up+s
			} else {
				room, down = room-x, down+s
			}
		}
		if spare <= room {
			sum, slope = sum+spare, slope+up
		} else {
			sum, slope = sum+room, slope-down
		}
	}
	return sum, slope
}

// earnedAfter is when p is so much, which is no more than the account keeps.
func (b *bucket) earnedAfter(i int, credit float64) float64 {
	x, rate := b.over(i, 0)
	lacks := credit - b.accounts[i].ceiling() - x
	if lacks <= 0 {
		return 0
	}
	t := after(lacks, rate, 0)
	for _, j := range b.kin(i) {
		if int(j) != i {
			x, s := b.over(int(j), 0)
			lacks, rate = lacks-x, rate+s
		}
	}
	if t = min(t, after(lacks, rate, 0)); math.IsInf(t, 1) {
		return t
	}
	return b.newton(t, func(t float64) (left, slope float64) {
		sum, slope := b.earned(i, t)
		return sum - credit, slope
	})
}

// newton goes to where a function is zero, which is convex between there and t.
func (b *bucket) newton(t float64, f func(t float64) (left, slope float64)) float64 {
	for range 2*len(b.accounts) + 2 {
		left, slope := f(t)
		if slope == 0 {
			break
		}
		step := left / slope
		t -= step
		if math.Abs(step) <= math.Abs(t)*1e-13 {
			break
		}
	}
	return max(t, 0)
}

// hasAfter is from when an account has so much, which it has not now, if nothing moves.
func (b *bucket) hasAfter(i int, credit float64) float64 {
	keeps := b.accounts[i].ceiling()
	if credit > keeps+b.eps {
		return b.changes()
	}
	// Where it comes ever nearer, what rounding absorbs is all that there is to wait for.
	credit = min(credit-b.eps, keeps)
	t := b.earnedAfter(i, credit)
	if left, _ := b.parts(i, t, credit); left < 0 {
		full := b.earnedAfter(i, keeps)
		if left, _ := b.parts(i, full, credit); !(left >= 0) {
			return b.changes()
		}
		t = max(t, b.newton(full, func(t float64) (left, slope float64) { return b.parts(i, t, credit) }))
	}
	return min(t+rounded, b.changes())
}

// rounded is what nanoseconds leaves off.
const rounded = 1e-10

// parts is p·L − c·Σp, with what is owed added to the level, as those whom it is owed have it, and its slope just before.
func (b *bucket) parts(i int, t, credit float64) (left, slope float64) {
	_, owed := b.sums()
	own, up := b.earned(i, t)
	all, rise := b.earnedByAll(t)
	return own*(b.level+owed) - credit*(all+owed), up*(b.level+owed) - credit*rise
}

// settles says that no debt ends by itself but by what its lane earns.
func (b *bucket) settles() bool {
	credit, owed := b.sums()
	return owed <= max(0, credit-b.level)+b.eps
}

// changes is when a bucket that brims does no longer, by itself: what was collected for one who does not come back is given up.
func (b *bucket) changes() float64 {
	if b.filling >= max(b.Capacity, b.need) && b.at < b.wantedUntil {
		return seconds(b.wantedUntil - b.at)
	}
	return math.Inf(1)
}
