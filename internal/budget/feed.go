// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"math"
	"time"
)

// Feed adds to the level of a bucket that is Fed, at most up to what it may hold. It is the lane's credit as far as that
// grows; of no lane (below 0) it is there to borrow. An amount below zero is taken back.
func (s *Scheduler) Feed(id BucketID, lane int, amount float64, now time.Time) {
	s.tick(now)
	b := s.bucket(id)
	if b == nil || !b.Fed || b.Kind == Slots || math.IsNaN(amount) {
		return
	}
	if amount < 0 {
		b.level += max(amount, -largestNumber)
		b.ceiling = min(b.ceiling+amount, b.level)
		b.back()
		s.stirBucket(b)
		return
	}
	top := b.top()
	amount = max(0, min(amount, top-b.level))
	b.level += amount
	b.ceiling = min(top, b.ceiling+amount)
	if lane >= 0 && lane < len(s.lanes) {
		a := b.account(lane)
		// What comes at once for a large call, which is not here yet, is kept for it.
		b.setCredit(a, max(a.credit, min(max(a.ceiling(), amount), a.credit+amount)))
	}
	b.forgive()
}

// Keep lowers what a lane keeps of a bucket that is Fed, while nothing of it waits: what is more is there to borrow. Of a bucket
// that refills by itself a lane keeps its hold.
func (s *Scheduler) Keep(id BucketID, lane int, most float64, now time.Time) {
	s.tick(now)
	b := s.bucket(id)
	if b == nil || !b.Fed || b.Kind == Slots || lane < 0 || lane >= len(s.lanes) {
		return
	}
	if a := b.account(lane); a.queued.n == 0 && a.credit > finite(most) {
		b.setCredit(a, finite(most))
		s.stirBucket(b)
	}
}

// Pour adds to the level of a bucket that is Fed as its own refill would: every lane's credit has its share of it.
func (s *Scheduler) Pour(id BucketID, amount float64, now time.Time) {
	s.tick(now)
	b := s.bucket(id)
	if b == nil || !b.Fed || b.Kind == Slots || !(amount > 0) {
		return
	}
	b.gain(min(amount, largestNumber))
	s.stirBucket(b)
}

// Unclaimed is a bucket's level less what lanes keep of it for which nothing waits there.
func (s *Scheduler) Unclaimed(id BucketID, now time.Time) float64 {
	s.tick(now)
	b := s.bucket(id)
	if b == nil {
		return 0
	}
	s.refill(b)
	left := b.level
	for i := range b.accounts {
		if a := &b.accounts[i]; a.queued.n == 0 {
			left -= a.positive()
		}
	}
	return left
}
