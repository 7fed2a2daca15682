// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import "time"

// Level is a bucket's level now; 0 for one that is unknown. It is what Snapshot tells, for who needs it often.
func (s *Scheduler) Level(id BucketID, now time.Time) float64 {
	s.tick(now)
	b := s.bucket(id)
	if b == nil {
		return 0
	}
	s.refill(b)
	return b.level
}
