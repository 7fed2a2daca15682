// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"slices"
	"time"
)

// lane is what a lane's calls need, by limit.
type lane struct {
	// perSecond is the average of late, came is what came since the last draw.
	perSecond, came []float64
	// small is what the small calls take that wait at the gate, apart what the large ones that wait aside do.
	small, apart sums
	// bytes are those of calls that wait aside.
	bytes int64
	// large are the large calls that wait, in the order in which they came.
	large []*place
	// together is how many large calls are asked for at once, askedAt when they were; zero once they are granted.
	together int
	askedAt  time.Time
	// asked is the number of the large calls that the pool was asked for last, cost what they took together.
	asked uint64
	cost  []float64
	// inUse are slots, by limit.
	inUse []float64
}

func newLane(limits int) lane {
	return lane{
		perSecond: make([]float64, limits), came: make([]float64, limits), inUse: make([]float64, limits),
		small: sums{units: make([]float64, limits)}, apart: sums{units: make([]float64, limits)},
	}
}

// sums add up costs; they are exactly zero of no calls, whatever rounding left.
type sums struct {
	units []float64
	n     int
}

func (s *sums) add(costs []float64) {
	for i, c := range costs {
		s.units[i] += c
	}
	s.n++
}

func (s *sums) remove(costs []float64) {
	for i, c := range costs {
		s.units[i] = max(0, s.units[i]-c)
	}
	if s.n--; s.n == 0 {
		clear(s.units)
	}
}

// wait notes a call that waits from now on, where it is.
func (l *lane) wait(p *place) {
	if p.large && !p.listed {
		p.listed = true
		l.large = append(l.large, p)
	}
	switch {
	case p.where == aside:
		l.apart.add(p.costs)
		l.bytes += p.ticket.Bytes
	case !p.large:
		l.small.add(p.costs)
	}
}

// leave notes that it does not any longer; stays says that it waits elsewhere next.
func (l *lane) leave(p *place, stays bool) {
	switch {
	case p.where == aside:
		l.apart.remove(p.costs)
		l.bytes -= p.ticket.Bytes
	case !p.large:
		l.small.remove(p.costs)
	}
	if p.listed && !stays {
		p.listed = false
		i := slices.Index(l.large, p)
		l.large = slices.Delete(l.large, i, i+1)
	}
}

// use notes slots that are taken, or given back.
func (l *lane) use(costs []float64, limits []limit, sign float64) {
	for k := range limits {
		if limits[k].slots {
			l.inUse[k] = max(0, l.inUse[k]+sign*costs[k])
		}
	}
}
