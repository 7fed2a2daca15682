// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"math"
	"time"
)

// tick moves the clock. It never moves back.
func (s *Scheduler) tick(now time.Time) {
	if t := int64(now.Sub(s.epoch)); t > s.clock {
		s.clock = t
		s.pressure.settle(t)
	}
}

func seconds(ns int64) float64 { return float64(ns) * 1e-9 }

// refill brings one bucket up to the clock: L ← min(C, L + R·dt), e ← min(E, e + r·R·dt).
func (s *Scheduler) refill(b *bucket) {
	dt := s.clock - b.at
	if dt <= 0 {
		return
	}
	b.at = s.clock
	if b.Kind == Slots || b.Fed {
		return
	}
	gain, top := b.Rate*seconds(dt), b.top()
	if len(b.reserves) > 0 || b.filling < top {
		b.gain(gain)
		return
	}
	b.level = min(top, b.level+gain)
	b.ceiling = min(top, b.ceiling+gain)
	if b.accrue(gain) {
		b.forgive()
	}
}

// accrue gives each lane its share of a gain. It reports whether one owes something.
func (b *bucket) accrue(gain float64) (owing bool) {
	for i := range b.accounts {
		a := &b.accounts[i]
		a.credit = min(max(a.hold, a.committed.sum), a.credit+a.share*gain)
		owing = owing || a.credit < 0
	}
	b.summed = false
	return owing
}

// gain is what a refill brings where not all of it counts.
func (b *bucket) gain(gain float64) {
	for k := range b.reserves {
		b.reserves[k].keep(b, gain)
	}
	owing := b.accrue(gain)
	for k := range b.reserves {
		gain -= b.reserves[k].use(b)
	}
	b.fill(gain)
	if owing {
		b.forgive()
	}
}

// fill adds to the level, up to where it fills.
func (b *bucket) fill(gain float64) {
	top := b.top()
	filled := b.filling < top && b.level+gain > b.filling
	if filled {
		top = max(b.filling, b.level)
	}
	b.level = min(top, b.level+gain)
	b.ceiling = min(top, b.ceiling+gain)
	if filled {
		b.back()
	}
}

// FillTo has the bucket fill up to a level alone, which may be below its capacity or above; what is there stays.
func (s *Scheduler) FillTo(id BucketID, level float64, now time.Time) {
	s.tick(now)
	if b := s.bucket(id); b != nil && !math.IsNaN(level) {
		s.refill(b)
		b.filling = level
	}
}

// forgive cuts what lanes owe to what the others' credits still lack: a lane's debt exists only to keep the
// credits of the others backed by the level, and ends when they are.
func (b *bucket) forgive() {
	credit, owed := b.sums()
	lack := max(0, credit-b.level)
	if owed <= lack {
		return
	}
	for i := range b.accounts {
		if a := &b.accounts[i]; a.credit < 0 {
			a.credit *= lack / owed
		}
	}
	b.summed = false
}

// sums returns all positive credits and all that is owed, both not negative.
func (b *bucket) sums() (credit, owed float64) {
	for i := range b.accounts {
		if e := b.accounts[i].credit; e >= 0 {
			credit += e
		} else {
			owed -= e
		}
	}
	return credit, owed
}

// back makes the credits add up to at most the level, after something lowered it from outside: it scales the
// positive ones, and what is still missing becomes the lanes' debt by share.
func (b *bucket) back() {
	if b.Kind == Slots {
		return
	}
	credit, owed := b.sums()
	if credit-owed <= b.level {
		return
	}
	left := b.level + owed
	factor, debt := 0.0, min(left, 0)
	if left > 0 {
		factor = left / credit
	}
	shares := 0.0
	for i := range b.accounts {
		shares += b.accounts[i].share
	}
	for i := range b.accounts {
		a := &b.accounts[i]
		if a.credit > 0 {
			a.credit *= factor
		}
		if debt < 0 && shares > 0 {
			a.credit += debt * a.share / shares
		}
	}
	b.summed = false
}

// clip ends what a lane collected for a head that is gone; it reports whether there was something.
func (b *bucket) clip(a *account) bool {
	if top := a.ceiling(); b.Kind == Continuous && a.credit > top {
		b.setCredit(a, top)
		return true
	}
	return false
}
