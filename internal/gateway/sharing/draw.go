// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"time"

	"github.com/headgate-dev/headgate/internal/budget/pool"
)

// Draw says what was spent and what is needed, to be brought to the pool.
func (m *Member) Draw(now time.Time) pool.Report {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.catchUp(now)
	m.charge(now)
	r := m.holder.Report(m.demand(now), m.at)
	for k := range m.limits {
		m.limits[k].drawn = m.limits[k].total()
	}
	m.reported(&r, now)
	return r
}

// reported goes on after a report: what it gives back is not there any longer.
func (m *Member) reported(r *pool.Report, now time.Time) {
	r.Seen = m.sights(now)
	m.early, m.noticed = false, false
	if m.leased {
		m.level(now)
	}
	m.expect(now)
	m.charge(now)
	m.rearm(now)
}

// Drain ends the member: it spends nothing from now on, and the report that is to be brought gives everything back.
func (m *Member) Drain(now time.Time) pool.Report {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.catchUp(now)
	m.charge(now)
	r := m.holder.Drain(m.at)
	m.draining = true
	m.catchUp(now)
	m.reported(&r, now)
	return r
}

// Receive takes in a grant. Late, doubled and foreign ones change nothing.
func (m *Member) Receive(g *pool.Grant, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.catchUp(now)
	was, since := m.leased, m.silentSince()
	m.holder.Receive(g, m.at)
	if m.leased = m.holder.Leased(m.at); m.leased {
		if !was && len(m.limits) > 0 {
			m.silence += max(0, now.Sub(since))
		}
		left := m.holder.Lease(m.at)
		m.leaseEnds, m.lease = now.Add(left), m.at.Add(left)
		if !was {
			m.resume(now)
		}
		m.level(now)
		m.useUp(now)
	}
	// Who was granted something goes before the gate looks at anything else.
	m.unpark(now)
	m.expect(now)
	m.rejudge(now)
	m.run(now)
	m.goOn()
	m.notice(now)
}

// goOn asks again where something waits though as much came as a pool grants at once: it has more, and takes what it granted for all
// that is needed. Where others wait as well, that takes longer than to the next draw.
func (m *Member) goOn() {
	if m.waiting == m.apart {
		return
	}
	for k := range m.limits {
		if l := &m.limits[k]; !l.slots && l.total()-l.drawn >= (1-rounding)*l.atOnce {
			m.hasten()
			return
		}
	}
}

// rounding is by which part totals may differ on the way.
const rounding = 1e-3

// total is what was granted of the limit, to all lanes.
func (l *limit) total() (sum float64) {
	for _, g := range l.granted {
		sum += g
	}
	return sum
}

// Due is when the next draw is due: each interval, and soon where something waits that was not asked for, or most of what there
// was is spent.
func (m *Member) Due(now time.Time) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at = m.elapsed.at(now)
	m.announced, m.noticed = m.due(now), m.holder.News()
	return m.announced
}

func (m *Member) due(now time.Time) time.Time {
	due := now.Add(m.holder.Due(m.at).Sub(m.at))
	if soon := m.drawn.Add(interval / 10); m.early && soon.Before(due) {
		return soon
	}
	return due
}

// hasten has a draw be early: something waits that was not asked for.
func (m *Member) hasten() {
	if !m.early {
		m.early = true
		m.notice(m.elapsed.last)
	}
}

// notice tells the owner if the next draw has become due earlier.
func (m *Member) notice(now time.Time) {
	if m.opts.Hastened == nil || m.announced.IsZero() {
		return
	}
	m.noticed = m.holder.News()
	if due := m.due(now); due.Before(m.announced) {
		m.announced = due
		m.opts.Hastened()
	}
}
