// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import "time"

// Level is a bucket's level now; 0 for one that is unknown. It is what Snapshot tells, for who needs it often.
func (s *Scheduler) Level(id BucketID, now time.Time) float64 {
	s.tick(now)
	return s.level(id)
}

// Levels appends the levels of buckets, as Level tells them.
func (s *Scheduler) Levels(ids []BucketID, levels []float64, now time.Time) []float64 {
	s.tick(now)
	for _, id := range ids {
		levels = append(levels, s.level(id))
	}
	return levels
}

func (s *Scheduler) level(id BucketID) float64 {
	b := s.bucket(id)
	if b == nil {
		return 0
	}
	if b.at < s.clock {
		s.refill(b)
	}
	return b.level
}
