// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import "time"

// A refund is told late. Had it been told at once it would have lifted P at most to its room; what P lacked of its room
// ever since is what it may still bring. So the least that P lacked is kept for a while.

// moments is how many are kept, each half an interval long.
const moments = 32

// slackness is the least that P lacked of its room, by time.
type slackness struct {
	least [moments]float64
	// at numbers the newest moment since the start; older ones than moments ago are forgotten.
	at int64
}

func (p *Pool) moment(since time.Duration) int64 { return int64(since / (p.cfg.Interval/2 + 1)) }

// observe notes what a level lacks now, also for the moments since it was last observed: it only shrinks between
// changes, and is observed before each.
func (p *Pool) observe(b *purse) {
	at := p.moment(p.now.Sub(p.start))
	lack := max(0, p.room(b)-p.level(b))
	for i := range b.sight.of {
		b.sight.of[i].least = min(b.sight.of[i].least, lack)
	}
	if s := &b.slack; at > s.at {
		for i := max(s.at+1, at-moments+1); i <= at; i++ {
			s.least[i%moments] = lack
		}
		s.at = at
	} else {
		s.least[at%moments] = min(s.least[at%moments], lack)
	}
}

// lacked is the least that P lacked since a stamp; 0 if that is not known any longer.
func (b *purse) lacked(since int64) float64 {
	if since <= b.slack.at-moments {
		return 0
	}
	least := b.slack.least[b.slack.at%moments]
	for i := max(since, 0); i < b.slack.at; i++ {
		least = min(least, b.slack.least[i%moments])
	}
	return least
}

// fill notes that so much has been brought since a stamp.
func (s *slackness) fill(since int64, units float64) {
	for i := max(since, 0, s.at-moments+1); i <= s.at; i++ {
		s.least[i%moments] -= units
	}
}
