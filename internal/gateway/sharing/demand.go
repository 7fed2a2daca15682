// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"time"

	"github.com/headgate-dev/headgate/internal/budget/pool"
)

const (
	// horizon is for how long a member asks ahead, in intervals: until the next draw is answered.
	horizon = 2
	// memory weighs the last interval's arrivals against those before.
	memory = 0.5
)

// demand works out what each lane needs.
func (m *Member) demand(now time.Time) []pool.Demand {
	dt := now.Sub(m.drawn).Seconds()
	m.drawn = now
	out := make([]pool.Demand, len(m.lanes))
	lacks := make([]float64, len(m.limits))
	for i := range m.lanes {
		lane := &m.lanes[i]
		small := m.expected(lane, dt)
		m.lend(i, small, now)
		first := m.asked(lane, small)
		out[i] = pool.Demand{Lane: m.route.Lanes[i].Name}
		for k := range m.limits {
			small[k] += lane.inUse[k]
			lacks[k] += lane.small.units[k]
			if small[k] > 0 {
				out[i].Small = append(out[i].Small, pool.Amount{Budget: m.limits[k].Name, Units: small[k]})
			}
		}
		if first != nil {
			m.bulk(&out[i], lane, first)
		}
	}
	m.lack(lacks, now)
	return out
}

// expected is, by limit, what a lane's small calls will take by what came of late.
func (m *Member) expected(lane *lane, dt float64) []float64 {
	small := make([]float64, len(m.limits))
	for k := range m.limits {
		if dt > 0 {
			weight := min(1, memory*dt/interval.Seconds())
			lane.perSecond[k] += weight * (lane.came[k]/dt - lane.perSecond[k])
			lane.came[k] = 0
		}
		if !m.limits[k].slots {
			small[k] = lane.perSecond[k] * interval.Seconds() * horizon
		}
	}
	return small
}

// lend leaves to the gateway's other lanes what a lane was granted and does not need: the pool keeps for idle lanes what they are
// to find, once for all gateways. Kept by each of them it would be all there is.
func (m *Member) lend(lane int, needs []float64, now time.Time) {
	for k := range m.limits {
		if l := &m.limits[k]; m.leased && !l.slots && !l.caps {
			m.gate.Keep(l.Name, lane, needs[k], now)
		}
	}
}

// asked adds what waits: small calls to the rest of their lane's, and of the large ones it returns the first.
func (m *Member) asked(lane *lane, small []float64) *place {
	for k, units := range lane.small.units {
		small[k] += units
	}
	var first *place
	for _, p := range lane.large {
		if p.where == queued && !m.lost(p) {
			for k, c := range p.costs {
				small[k] += c
			}
			continue
		}
		if first == nil || p.number > 0 && first.number == 0 {
			first = p
		}
	}
	return first
}

// lost says whether a large call at the gate has nothing to go with any longer: what it was granted went elsewhere, as a debt,
// and is asked for again.
func (m *Member) lost(p *place) bool {
	if m.covers(p) {
		return false
	}
	if p.number > 0 && m.granted(p) {
		p.number = 0
	}
	return true
}

// lack notes since when caps have too little for what waits.
func (m *Member) lack(waits []float64, now time.Time) {
	for k := range m.limits {
		l := &m.limits[k]
		if !l.caps {
			continue
		}
		l.had = m.holder.Balance(l.Name, m.at)
		switch lacks := waits[k] > l.had; {
		case !lacks:
			l.lacking = time.Time{}
		case l.lacking.IsZero():
			l.lacking = now
		}
	}
}
