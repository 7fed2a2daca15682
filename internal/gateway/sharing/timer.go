// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import "time"

// Advance decides what is due at now, for an owner that keeps the time itself: see Options.Decided.
func (m *Member) Advance(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.catchUp(now)
	m.run(now)
}

// run decides what is due.
func (m *Member) run(now time.Time) {
	m.giveUp(now)
	m.expire(now)
	m.gate.Advance(now)
	m.charge(now)
	m.step = now.Add(interval / 10)
	m.rearm(now)
}

// Next is when Advance should run again; false if nothing waits that time alone would let go.
func (m *Member) Next(now time.Time) (time.Time, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.next(now)
}

func (m *Member) next(now time.Time) (time.Time, bool) {
	if m.waiting == 0 {
		return time.Time{}, false
	}
	at, ok := m.gate.Next(now)
	sooner := func(t time.Time) {
		if !ok || t.Before(at) {
			at, ok = t, true
		}
	}
	if by := m.soonest(); !by.IsZero() {
		sooner(by.Add(time.Nanosecond))
	}
	switch {
	case m.leased:
		sooner(m.leaseEnds)
	case m.open:
		// More than a burst at once comes in steps.
		sooner(m.step)
	case m.apart > 0 && !m.gaveUp:
		sooner(m.silentSince().Add(reconnect))
	}
	return at, ok
}

// soonest is when the first of the calls that wait aside must have been decided; zero is never.
func (m *Member) soonest() time.Time {
	if m.stale {
		m.soonestBy, m.stale = time.Time{}, false
		for _, p := range m.apartNow() {
			if !p.by.IsZero() && (m.soonestBy.IsZero() || p.by.Before(m.soonestBy)) {
				m.soonestBy = p.by
			}
		}
	}
	return m.soonestBy
}

// rearm sets the one timer to the next moment at which something can change.
func (m *Member) rearm(now time.Time) {
	if m.waiting == 0 || m.closed || m.opts.Decided != nil {
		return
	}
	next, ok := m.next(now)
	if !ok || next.Equal(m.timerAt) {
		return
	}
	m.timerAt = next
	d := max(next.Sub(now), 0)
	if m.timer == nil {
		m.timer = time.AfterFunc(d, m.tick)
		return
	}
	m.timer.Reset(d)
}

func (m *Member) tick() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.timerAt = time.Time{}
	now := m.now()
	m.catchUp(now)
	m.run(now)
}
