// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

// Queues that stay nearly full serve nobody: who joins them is refused later or waits long. So while they are, lanes
// below a waiting call's priority get what is sure to them and no more: they borrow nothing, and take no more calls
// to wait. Two marks and a dwell keep this from flapping.
const (
	// pauseAt and resumeAt are parts of the places or bytes, whichever are more in use.
	pauseAt, resumeAt = 0.8, 0.6
	// dwell is how long the queues must stay beyond a mark: longer than a burst that one refill of a usual bucket
	// absorbs, shorter than the patience of most calls.
	dwell = int64(5e9)
)

// pressure is the state of the whole of the queues, a switch with hysteresis.
type pressure struct {
	nearlyFull bool
	// crossing says that occupancy has been beyond the mark that would turn the switch, since then without a break.
	crossing bool
	since    int64
}

// settle turns the switch if it is time to. As the marks lie apart, nothing crosses the other one at the same moment.
func (p *pressure) settle(clock int64) {
	if p.crossing && clock-p.since >= dwell {
		p.nearlyFull, p.crossing = !p.nearlyFull, false
	}
}

// watch takes in that occupancy changed.
func (s *Scheduler) watch() {
	p := &s.pressure
	beyond := s.occupancy() >= pauseAt
	if p.nearlyFull {
		beyond = s.occupancy() <= resumeAt
	}
	if beyond && !p.crossing {
		p.since = s.clock
	}
	p.crossing = beyond
}

// occupancy is the part of the places or of the bytes that is in use.
func (s *Scheduler) occupancy() float64 {
	// Where nobody may wait, retries still do.
	used := float64(s.depth) / float64(max(s.places(), 1))
	if s.maxBytes > 0 {
		used = max(used, float64(s.bytes)/float64(s.maxBytes))
	}
	return used
}

// places is how many calls may wait in all.
func (s *Scheduler) places() int {
	if s.maxDepth > 0 {
		return min(s.maxDepth, s.lanePlaces)
	}
	return s.lanePlaces
}

// resumeIn is the soonest that the pause may end, in seconds.
func (s *Scheduler) resumeIn() float64 {
	if p := &s.pressure; p.crossing {
		return seconds(max(0, p.since+dwell-s.clock))
	}
	return seconds(dwell)
}

// paused says whether a lane is held to its own: the queues are nearly full, and a call of a higher priority waits.
func (s *Scheduler) paused(l *lane) bool {
	if !s.pressure.nearlyFull {
		return false
	}
	for _, q := range s.active {
		if q.lane.group == l.group && q.lane.Priority > l.Priority && q.candidate(s.clock) != nil {
			return true
		}
	}
	return false
}
