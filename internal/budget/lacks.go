// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import "time"

// Lacks is how much more of a bucket a lane keeps: what its committed heads cost, or what it holds while idle, less its credit.
func (s *Scheduler) Lacks(id BucketID, lane int, now time.Time) float64 {
	s.tick(now)
	b := s.bucket(id)
	if b == nil || lane < 0 || lane >= len(s.lanes) {
		return 0
	}
	s.refill(b)
	a := b.account(lane)
	return max(0, a.ceiling()-a.credit)
}
