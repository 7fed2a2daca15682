// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import "time"

// catchUp brings up to now what changes by time alone: nothing, while the lease lasts.
func (m *Member) catchUp(now time.Time) {
	m.at = m.elapsed.at(now)
	if m.leased && !m.draining && m.at.Before(m.lease) || m.holder.Leased(m.at) {
		return
	}
	if m.leased {
		m.lapse(now)
	} else if open := m.opens(now); open != m.open {
		m.open = open
		m.expect(now)
		m.noteLevels(now)
	}
	if m.open {
		m.fill(now)
	}
}

// charge charges the holder with what the gate took, or gave back, since.
func (m *Member) charge(now time.Time) {
	m.levels = m.gate.Levels(m.levels[:0], now)
	for k, level := range m.levels {
		l := &m.limits[k]
		m.spent[k] = l.level - level
		l.level = level
	}
	switch {
	case m.leased:
		m.holder.ChargeAt(m.pockets, m.spent)
		if m.holder.News() && !m.noticed {
			m.notice(now)
		}
	case m.open:
		m.owe(now)
	}
}

// owe notes what was spent while nothing binds.
func (m *Member) owe(now time.Time) {
	for k, spent := range m.spent {
		if l := &m.limits[k]; !l.slots && spent != 0 {
			l.debt.owe(spent, l, now)
		}
	}
}

// level gives the gate what the holder has by its lease: what was granted to a lane is its credit there.
func (m *Member) level(now time.Time) {
	again := m.holder.Term() != m.term
	m.term = m.holder.Term()
	for k := range m.limits {
		if l := &m.limits[k]; !l.slots {
			m.feed(l, again, now)
		}
	}
	m.noteLevels(now)
}

func (m *Member) feed(l *limit, again bool, now time.Time) {
	lack := m.holder.Balance(l.Name, m.at) - l.level
	for i := range m.route.Lanes {
		granted, _ := m.holder.Granted(m.route.Lanes[i].Name, l.Name)
		if again {
			l.granted[i] = 0
		}
		if more := min(granted-l.granted[i], lack); more > 0 {
			m.gate.Feed(l.Name, i, more, now)
			lack -= more
		}
		l.granted[i] = granted
	}
	if lack != 0 {
		m.gate.Feed(l.Name, -1, lack, now)
	}
}

// noteLevels takes the gate's levels for what the holder knows.
func (m *Member) noteLevels(now time.Time) {
	m.levels = m.gate.Levels(m.levels[:0], now)
	for k := range m.limits {
		m.limits[k].level = m.levels[k]
	}
}

// fill fills what binds nobody.
func (m *Member) fill(now time.Time) {
	for k := range m.limits {
		if l := &m.limits[k]; !l.slots && l.level < float64(l.Burst) {
			m.divide(l, float64(l.Burst)-l.level, now)
		}
	}
	m.noteLevels(now)
}

// divide feeds units as refill is divided: to each lane its share, as its credit.
func (m *Member) divide(l *limit, units float64, now time.Time) {
	rest := units
	for i := range m.route.Lanes {
		if part := units * float64(m.route.Lanes[i].SharePermille) / 1000; part > 0 {
			m.gate.Feed(l.Name, i, min(part, rest), now)
			rest -= part
		}
	}
	if rest > 0 {
		m.gate.Feed(l.Name, -1, rest, now)
	}
}
