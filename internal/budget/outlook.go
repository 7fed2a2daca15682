// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import "time"

// Outlook is what a lane has of a bucket beyond what its waiting calls take: what is there less what the other lanes keep, below
// zero if it lacks. perSecond is how fast that grows: what the others have left of late, at the least the lane's share. It is for
// Patient schedulers, which predict nothing themselves.
func (s *Scheduler) Outlook(id BucketID, lane int, now time.Time) (spare, perSecond float64) {
	s.tick(now)
	b := s.bucket(id)
	if b == nil || lane < 0 || lane >= len(s.lanes) {
		return 0, 0
	}
	s.refill(b)
	a, used := b.account(lane), 0.0
	for j := range b.accounts {
		if o := &b.accounts[j]; o != a {
			used += o.use.rate(s.clock)
		}
	}
	return b.level - b.others(lane) - a.queued.sum, max(a.share*b.Rate, b.Rate-used)
}
