// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"math"
	"time"
)

// Lower records an outside fact: the bucket's level is at most this. Reservations taken before, when they are
// refunded, never lift the level above the fact and what has been refilled since: the ceiling moves with every
// refill and every later take, as the level does, but not with those refunds.
func (s *Scheduler) Lower(id BucketID, level float64, now time.Time) {
	s.tick(now)
	b := s.bucket(id)
	if b == nil || b.Kind == Slots || math.IsNaN(level) {
		return
	}
	s.refill(b)
	level = max(level, -largestNumber)
	b.era++
	b.ceiling = min(b.ceiling, level)
	if level >= b.level {
		return
	}
	b.level = level
	b.back()
	s.stirBucket(b)
}
