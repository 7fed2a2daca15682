// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import "time"

// Level is what a bucket has; false if it is unknown.
func (s *Scheduler) Level(id BucketID, now time.Time) (float64, bool) {
	s.tick(now)
	b := s.bucket(id)
	if b == nil {
		return 0, false
	}
	s.refill(b)
	return b.level, true
}
