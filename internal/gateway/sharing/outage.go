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
	return !now.Before(m.started.Add(m.ttl()))
}

// lapse ends what was granted: it is not to be spent any longer. From now on the gate fills its limits by itself, from nothing.
func (m *Member) lapse(now time.Time) {
	m.leased, m.gaveUp = false, false
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
	m.expect(now)
	m.noteLevels(now)
}

// resume begins a lease. What was overspent without one, or spent while nothing bound, is paid by what is granted from now on;
// what was saved is void.
func (m *Member) resume(now time.Time) {
	m.noteLevels(now)
	for k := range m.limits {
		l := &m.limits[k]
		if l.slots {
			continue
		}
		owed := max(0, -l.level-l.safe.SafeRate*max(0, m.safeFrom.Sub(now).Seconds()))
		if m.open {
			owed = l.debt.owed(l, now)
		}
		if owed > 0 {
			m.holder.Charge(l.Name, owed, m.at)
		}
		l.debt = debt{}
		m.gate.Lower(l.Name, 0, now)
	}
	m.open = false
	m.expect(now)
	m.noteLevels(now)
}

// begin has the safe share of a restarted gateway begin when the one before has lost its lease for sure: until then it owes
// what it would have brought.
func (m *Member) begin(now time.Time) {
	m.safeFrom = now
	if m.opts.Fresh {
		return
	}
	wait := time.Duration(float64(m.ttl()) * (1 + clockSlack))
	m.safeFrom = now.Add(wait)
	for k := range m.limits {
		if l := &m.limits[k]; !l.slots {
			m.gate.Lower(l.Name, -l.safe.SafeRate*wait.Seconds(), now)
		}
	}
}

// clockSlack is by which part two clocks may differ in rate when they measure a lease.
const clockSlack = 0.01

// ttl is how long a lease lasts.
func (m *Member) ttl() time.Duration {
	if m.opts.TTL > 0 {
		return m.opts.TTL
	}
	return leaseTime
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

// Outage is what a member goes without.
type Outage struct {
	// Silent says that there is no lease, since a time; Total is how long there was none since the member began.
	Silent bool
	Since  time.Time
	Total  time.Duration
	// Mode is what it does meanwhile: Safe, LastGrant or Open.
	Mode string
}

// Outage says how the member is, as far as the pool goes. A route without limits misses nothing.
func (m *Member) Outage(now time.Time) Outage {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.catchUp(now)
	out := Outage{Total: m.silence, Mode: m.route.Outage}
	if out.Mode == "" {
		out.Mode = "Safe"
	}
	if !m.leased && len(m.limits) > 0 {
		out.Silent, out.Since = true, m.silentSince()
		out.Total += max(0, now.Sub(out.Since))
	}
	return out
}

// Leased says whether what was granted may be spent.
func (m *Member) Leased(now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.catchUp(now)
	return m.leased
}
