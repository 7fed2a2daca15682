// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/plan"
)

// Configure puts an edited route in force. Levels and waiting calls are kept.
func (m *Member) Configure(route plan.Route, maxGateways int32, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.catchUp(now)
	m.maxGateways = maxGateways
	m.withdraw(now)
	// Who waits is told by the gate what becomes of it: by then all is as the edit has it.
	m.adopt(route)
	m.foretell(now)
	m.gate.Foresee(m.divided())
	m.gate.Configure(route, maxGateways, now)
	m.expect(now)
	m.noteLevels(now)
	m.restore(now)
	m.recheck(now)
	m.run(now)
	m.notice(now)
}

// withdraw takes out of the gate what was granted, so that it decides nothing while the holder does not follow.
func (m *Member) withdraw(now time.Time) {
	if !m.leased {
		return
	}
	for k := range m.limits {
		if l := &m.limits[k]; !l.slots && l.level > 0 {
			m.gate.Feed(l.Name, -1, -l.level, now)
		}
	}
}

// restore brings the gate what the holder has.
func (m *Member) restore(now time.Time) {
	if !m.leased {
		return
	}
	m.term = m.holder.Term()
	for k := range m.limits {
		l := &m.limits[k]
		if l.slots {
			continue
		}
		for i := range m.route.Lanes {
			l.granted[i], _ = m.holder.Granted(m.route.Lanes[i].Name, l.Name)
		}
		if units := m.holder.Balance(l.Name, m.at) - l.level; units > 0 {
			m.divide(l, units, now)
		} else {
			m.gate.Feed(l.Name, -1, units, now)
		}
	}
	m.noteLevels(now)
}

// adopt takes over a route's limits and lanes.
func (m *Member) adopt(route plan.Route) {
	if len(route.Lanes) == 0 {
		route.Lanes = []plan.Lane{{Name: "default", SharePermille: 1000}}
	}
	old, oldLanes, were := m.limits, m.lanes, m.route.Lanes
	m.route, m.limits, m.lanes = route, nil, make([]lane, len(route.Lanes))
	budgets := make([]pool.HolderBudget, 0, len(route.Limits))
	for _, l := range route.Limits {
		k := newLimit(l, m.maxGateways, len(route.Lanes))
		if i := slices.IndexFunc(old, func(o limit) bool { return o.Name == l.Name && o.slots == k.slots }); i >= 0 {
			k.carry(&old[i], route.Lanes, were)
		}
		m.limits = append(m.limits, k)
		budgets = append(budgets, k.safe)
	}
	m.holder.Adopt(budgets, outage(&route), m.at)
	m.find()
	for i := range m.lanes {
		m.lanes[i] = newLane(len(m.limits))
		if j := indexOf(were, route.Lanes[i].Name); j >= 0 {
			m.keep(&m.lanes[i], &oldLanes[j], old)
		}
	}
	m.resettle(were, old)
}

// find finds the limits' places at the holder.
func (m *Member) find() {
	m.slotted, m.pockets, m.spent = false, m.pockets[:0], make([]float64, len(m.limits))
	for k := range m.limits {
		l := &m.limits[k]
		l.pocket = m.holder.Place(l.Name)
		if l.slots {
			m.slotted, m.pockets = true, append(m.pockets, -1)
		} else {
			m.pockets = append(m.pockets, l.pocket)
		}
	}
}

// carry takes over what is known of a limit.
func (l *limit) carry(old *limit, lanes, were []plan.Lane) {
	l.level, l.seen, l.debt, l.unoffered = old.level, old.seen, old.debt, old.unoffered
	if old.rate > 0 {
		l.expected = min(l.rate, old.expected*l.rate/old.rate)
	}
	for i := range lanes {
		if j := indexOf(were, lanes[i].Name); j >= 0 {
			l.granted[i] = old.granted[j]
		}
	}
}

// keep takes over what a lane needed of late.
func (m *Member) keep(to, from *lane, old []limit) {
	for k := range m.limits {
		for j := range old {
			if old[j].Name == m.limits[k].Name {
				to.perSecond[k], to.came[k] = from.perSecond[j], from.came[j]
			}
		}
	}
}

// resettle finds the place of every live call among the new limits and lanes.
func (m *Member) resettle(were []plan.Lane, old []limit) {
	m.places.each(func(p *place) {
		i := -1
		if p.lane < len(were) {
			i = indexOf(m.route.Lanes, were[p.lane].Name)
		}
		if i < 0 {
			i = len(m.route.Lanes) - 1
		}
		p.lane, p.listed = i, false
		var before []float64
		if p.where == holding {
			before = slices.Clone(p.costs)
		}
		m.value(p)
		switch p.where {
		case aside, queued:
			m.lanes[p.lane].wait(p)
		case holding:
			m.keepSlots(p, before, old)
			m.lanes[p.lane].use(p.costs, m.limits, 1)
		case away:
		}
	})
}

func indexOf(lanes []plan.Lane, name string) int {
	return slices.IndexFunc(lanes, func(l plan.Lane) bool { return l.Name == name })
}

// value works out what a call takes.
func (m *Member) value(p *place) {
	p.costs, p.large = p.costs[:0], false
	nothing := false
	for k := range m.limits {
		l := &m.limits[k]
		c := l.cost(p.ticket)
		nothing = nothing || c > 0 && l.Burst <= 0
		if c > l.small && !l.slots && l.Budget != plan.Requests {
			p.large = true
		}
		if c > l.capacity {
			l.squeeze(p.ticket)
			c = l.capacity
		}
		p.costs = append(p.costs, c)
	}
	// What lets nothing pass refuses at once.
	p.large = p.large && !nothing
}
