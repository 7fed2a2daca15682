// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"math"
	"time"
)

// Raise records an outside fact of the other kind than Lower: the bucket's level is at least this. It never lifts
// the level above the capacity and never lowers it. What it brings is nobody's credit, so it is there to borrow; on
// a cap it is shared out, as all of a cap is. What reservations from before give back was part of the fact, or the
// next one will tell: their refunds no longer lift the level above it.
func (s *Scheduler) Raise(id BucketID, level float64, now time.Time) {
	s.tick(now)
	b := s.bucket(id)
	if b == nil || b.Kind == Slots || math.IsNaN(level) {
		return
	}
	s.refill(b)
	level = min(level, b.Capacity)
	lift := level - b.level
	if lift <= 0 {
		return
	}
	b.era++
	b.level, b.ceiling = level, level
	b.forgive()
	if b.caps() {
		b.shareOut(lift)
	}
	s.stirBucket(b)
}

// shareOut gives the lanes their shares of an amount, as far as nobody's credit claims it.
func (b *bucket) shareOut(amount float64) {
	credit, owed := b.sums()
	amount = max(0, min(amount, b.level-(credit-owed)))
	for i := range b.accounts {
		a := &b.accounts[i]
		a.credit = max(a.credit, min(a.ceiling(), a.credit+a.share*amount))
	}
	b.summed = false
}
