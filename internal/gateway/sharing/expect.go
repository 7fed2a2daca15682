// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"time"

	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/plan"
)

// patience is over which time a gateway comes to expect more while calls wait: large calls that come now and then have what
// is expected swing, and who was accepted by the most of it would be given up by the least.
const patience = 30 * time.Second

// expect takes in what small calls may expect: what the pool says, or without a lease what the outage mode allows.
func (m *Member) expect(now time.Time) {
	m.foretell(now)
	m.share(now)
}

// foretell works out what may be expected of each limit.
func (m *Member) foretell(now time.Time) {
	dt := now.Sub(m.expectedAt)
	m.expectedAt = now
	for k := range m.limits {
		l := &m.limits[k]
		had := l.expected
		told, known := m.holder.Expected(l.Name)
		told = min(l.rate, max(l.safe.SafeRate, told))
		switch {
		case m.open:
			l.expected = l.rate
			continue
		case !m.leased && outage(&m.route) == pool.OutageLastGrant && known:
			l.expected = told
			continue
		case !m.leased:
			l.expected = l.safe.SafeRate
			continue
		case !known:
			l.expected = l.rate
		default:
			l.expected = told
			if m.waiting > 0 && l.expected > had {
				l.expected = had + (l.expected-had)*min(1, dt.Seconds()/patience.Seconds())
			}
		}
		l.told = l.expected
	}
}

// divided are the shares of now.
func (m *Member) divided() map[string]admission.Share {
	m.shares = make(map[string]admission.Share, len(m.limits))
	for k := range m.limits {
		m.shares[m.limits[k].Name] = m.shareOf(&m.limits[k], m.lanes)
	}
	return m.shares
}

// share tells the gate what its shares are, if that has changed enough.
func (m *Member) share(now time.Time) {
	changed := len(m.shares) != len(m.limits)
	shares := make(map[string]admission.Share, len(m.limits))
	for k := range m.limits {
		l := &m.limits[k]
		s, had := m.shareOf(l, m.lanes), m.shares[l.Name]
		rate := had.RatePerSecond
		had.RatePerSecond = s.RatePerSecond
		changed = changed || s != had || s.RatePerSecond > rate*1.1 || s.RatePerSecond < rate*0.9
		shares[l.Name] = s
	}
	if changed {
		m.shares = shares
		m.gate.SetShares(shares, now)
	}
}

func (m *Member) shareOf(l *limit, lanes []lane) admission.Share {
	switch {
	case l.Budget == plan.InFlight:
		return m.slotShare(l, lanes)
	case m.open:
		return admission.Share{RatePerSecond: l.rate, Capacity: float64(l.Burst), Fed: true}
	case !m.leased:
		return admission.Share{RatePerSecond: l.expected, Capacity: l.safe.SafeBurst, Safe: true}
	case l.caps && !l.usedUp:
		// What is left of it may be granted at once, so calls wait for that as long as nobody says that nothing is left.
		return admission.Share{RatePerSecond: float64(l.Burst), Capacity: l.capacity, Fed: true, Waited: true}
	}
	return admission.Share{RatePerSecond: l.expected, Capacity: l.capacity, Fed: true}
}

// slotShare are the slots of this gateway, those in use included. Without a lease each has one at the least.
func (m *Member) slotShare(l *limit, lanes []lane) admission.Share {
	if m.open {
		return admission.Share{Capacity: float64(l.Amount)}
	}
	inUse := 0.0
	for i := range lanes {
		for k := range m.limits {
			if m.limits[k].Name == l.Name {
				inUse += lanes[i].inUse[k]
			}
		}
	}
	s := admission.Share{Capacity: max(0, m.holder.Balance(l.Name, m.at)+inUse)}
	if !m.leased {
		s.Safe, s.Capacity = true, max(s.Capacity, min(1, float64(l.Amount)))
	}
	return s
}

// useUp finds the caps that have nothing more: what was asked for does not come.
func (m *Member) useUp(now time.Time) {
	for k := range m.limits {
		l := &m.limits[k]
		if !l.caps {
			continue
		}
		_, told := m.holder.Expected(l.Name)
		switch has := m.holder.Balance(l.Name, m.at); {
		case !told: // a pool that has not heard of it brings nothing
			l.lacking = time.Time{}
		case has > l.had:
			l.lacking, l.usedUp = time.Time{}, false
		case !l.lacking.IsZero() && now.Sub(l.lacking) > 2*interval: // what an edit added is empty at its first draw
			l.usedUp = true
		}
	}
}
