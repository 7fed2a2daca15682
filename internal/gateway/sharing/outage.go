// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"time"

	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/plan"
)

// leaseTime is how long a lease lasts by the pool's own choice.
const leaseTime = 10 * time.Second

// outage is a route's mode as a holder knows it.
func outage(r *plan.Route) pool.Outage {
	switch r.Outage {
	case plan.LastGrant:
		return pool.OutageLastGrant
	case plan.Open:
		return pool.OutageOpen
	}
	return pool.OutageSafe
}

// silentSince is since when there is no lease.
func (m *Member) silentSince() time.Time {
	if m.leaseEnds.IsZero() {
		return m.started
	}
	return m.leaseEnds
}

// opens says whether nothing binds now. Who was never heard may only have come before its first grant, so it waits as long as
// a lease lasts.
func (m *Member) opens(now time.Time) bool {
	if m.draining || m.route.Outage != plan.Open {
		return false
	}
	if !m.leaseEnds.IsZero() {
		return true
	}
	patience := m.opts.TTL
	if patience <= 0 {
		patience = leaseTime
	}
	return !now.Before(m.started.Add(patience))
}

// lapse ends what was granted: it is not to be spent any longer.
func (m *Member) lapse(now time.Time) {
	m.leased = false
	if m.leaseEnds.After(now) {
		// The host was suspended.
		m.leaseEnds = now
	}
	m.open = m.opens(now)
	for k := range m.limits {
		l := &m.limits[k]
		l.debt, l.usedUp, l.lacking = debt{}, false, time.Time{}
		if !l.slots {
			m.gate.Feed(l.Name, -1, -l.level, now)
		}
	}
	m.noteLevels(now)
	m.expect(now)
}

// resume begins a lease. What was overspent without one, or spent while nothing bound, is paid by what is granted from now on.
func (m *Member) resume(now time.Time) {
	for k := range m.limits {
		l := &m.limits[k]
		if l.slots {
			continue
		}
		owed := max(0, -l.level)
		if m.open {
			owed = l.debt.owed(l, now)
		}
		if owed > 0 {
			m.holder.Charge(l.Name, owed, m.at)
		}
		l.debt = debt{}
	}
	m.open = false
}

// debt is what is owed of a limit for what was spent while nothing bound: what exceeds the rate that the gateway could have
// expected, and no more than its part of a burst, for together all gateways cannot have emptied more than one.
type debt struct {
	units float64
	at    time.Time
}

// owe adds what was spent; below zero it is what was given back.
func (d *debt) owe(units float64, l *limit, now time.Time) {
	d.units = max(0, d.owed(l, now)+units)
	d.at = now
}

// owed is what is owed now.
func (d *debt) owed(l *limit, now time.Time) float64 {
	if d.at.IsZero() || l.rate <= 0 {
		return 0
	}
	left := d.units - l.told*max(0, now.Sub(d.at).Seconds())
	return max(0, min(left, l.capacity*min(1, l.told/l.rate)))
}

// Outage says whether the member has no lease, and since when.
func (m *Member) Outage(now time.Time) (since time.Time, silent bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.catchUp(now)
	if m.leased {
		return time.Time{}, false
	}
	return m.silentSince(), true
}

// Leased says whether what was granted may be spent.
func (m *Member) Leased(now time.Time) bool {
	_, silent := m.Outage(now)
	return !silent
}
