// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"time"

	"github.com/headgate-dev/headgate/internal/budget/pool"
)

const (
	// prompt is how soon a lane's large calls are granted if more may be asked for at once: a draw each would hold them up.
	prompt = interval / 4
	// bundled is which part of an interval's refill is asked for at once, mostTogether how many calls.
	bundled, mostTogether = 0.25, 64
)

// smallOf is what a call takes at the most that is not granted as a whole: less than an interval brings, and no more than all
// gateways together can collect at once. Else parts of calls lie in all of them, none can go, and there is no room for more.
func smallOf(b pool.Budget) float64 {
	return max(min(b.Rate*interval.Seconds(), b.Capacity/float64(2*b.MaxHolders)), b.SmallCall)
}

// bulk asks for a large call, and for some after it where the pool grants at once. Numbers grow over all lanes, so that no lane
// that comes back repeats one.
func (m *Member) bulk(d *pool.Demand, lane *lane, first *place) {
	if first.number == 0 {
		m.bundle(lane, first)
	}
	d.Bulk = first.number
	costs := make([]float64, len(m.limits))
	for _, p := range lane.large {
		if p == first || p.number == first.number && p.where == aside {
			for k, c := range p.costs {
				costs[k] += c
			}
		}
	}
	for k := range m.limits {
		if l := &m.limits[k]; !l.slots {
			costs[k] = min(costs[k], l.capacity)
			d.Cost = append(d.Cost, pool.Amount{Budget: l.Name, Units: costs[k]})
		}
	}
	lane.asked, lane.cost = first.number, costs
}

// bundle numbers the calls that are asked for together: the first, and as many as the lane may have while they are no more than a
// part of an interval's refill.
func (m *Member) bundle(lane *lane, first *place) {
	m.number++
	lane.askedAt = m.drawn
	first.number = m.number
	sums, n := append([]float64(nil), first.costs...), 1
	for _, p := range lane.large {
		if p == first || p.where != aside || p.number > 0 {
			continue
		}
		if n++; n > lane.together {
			return
		}
		for k, c := range p.costs {
			if sums[k] += c; c > 0 && !m.limits[k].slots && sums[k] > m.limits[k].rate*interval.Seconds()*bundled {
				return
			}
		}
		p.number = m.number
	}
}

// granted has a lane ask for more calls at once where it is granted soon, and for fewer where others wait as well.
func (l *lane) granted(now time.Time) {
	if l.askedAt.IsZero() {
		return
	}
	if now.Sub(l.askedAt) <= prompt {
		l.together = min(2*max(l.together, 1), mostTogether)
	} else {
		l.together /= 2
	}
	l.askedAt = time.Time{}
}
