// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
)

// Enter asks for t's first send. A queued ticket is decided later: see Wait.
func (m *Member) Enter(t *admission.Ticket, now time.Time) admission.Verdict {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.catchUp(now)
	p := m.place(t)
	if !t.Counted && !p.large {
		m.lanes[p.lane].come(p)
	}
	t.Granted = false
	if p.large && m.hopes(p, now) {
		if !m.has(p) {
			return m.park(p, now)
		}
		t.Granted = true
	}
	return m.entered(p, m.ask(p, now), now)
}

// Retry asks for another send, not before a time. The earlier send was settled.
func (m *Member) Retry(t *admission.Ticket, notBefore, now time.Time) admission.Verdict {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.catchUp(now)
	p := m.place(t)
	p.again, p.notBefore = true, notBefore
	t.Granted = false
	if p.large && m.hopes(p, now) {
		if notBefore.After(now) || !m.has(p) {
			return m.park(p, now)
		}
		t.Granted = true
	}
	return m.entered(p, m.ask(p, now), now)
}

// place returns the place of a ticket that enters.
func (m *Member) place(t *admission.Ticket) *place {
	if p, ok := t.Place.(*place); ok {
		// It was decided before, and not released since.
		m.forget(p)
	}
	if m.opts.Decided == nil {
		t.Listen()
		t.Hush()
	}
	p := m.places.add(t)
	t.Place = p
	p.lane = min(max(t.Lane, 0), len(m.lanes)-1)
	m.value(p)
	return p
}

// squeeze has a call that the limit allows fit into what gateways may share of it, which is a guard less.
func (l *limit) squeeze(t *admission.Ticket) {
	if least := l.atLeast(t); least > l.capacity && least <= float64(l.Burst) {
		t.Estimate.InputAtLeast = l.capacity
	}
}

// come notes a call that came.
func (l *lane) come(p *place) {
	for k, c := range p.costs {
		l.came[k] += c
	}
}

// ask has the gate decide about a call; if that is at once, its answer says so and nothing else does.
func (m *Member) ask(p *place, now time.Time) admission.Verdict {
	m.asking = p
	var v admission.Verdict
	if p.again {
		v = m.gate.Retry(p.ticket, p.notBefore, now)
	} else {
		v = m.gate.Enter(p.ticket, now)
	}
	m.asking = nil
	return v
}

// entered takes in what the gate said of a call that entered.
func (m *Member) entered(p *place, v admission.Verdict, now time.Time) admission.Verdict {
	switch v.State {
	case budget.Admitted:
		m.hold(p)
	case budget.Queued:
		m.queue(p)
		m.hasten()
	default:
		m.places.remove(p)
		m.hasten()
	}
	m.charge(now)
	m.rearm(now)
	return v
}

// queue notes a call that waits at the gate.
func (m *Member) queue(p *place) {
	p.where = queued
	m.waiting++
	m.lanes[p.lane].wait(p)
}

// hold notes one that was admitted.
func (m *Member) hold(p *place) {
	p.where = holding
	m.slots(p, 1)
}

// slots counts what a call holds of limits of calls in flight.
func (m *Member) slots(p *place, sign float64) {
	for _, name := range p.beside {
		m.holder.UseAt(m.holder.Place(name), sign)
	}
	if !m.slotted {
		return
	}
	counted := false
	for k := range m.limits {
		if l := &m.limits[k]; l.slots && p.costs[k] > 0 {
			m.holder.UseAt(l.pocket, sign)
			counted = true
		}
	}
	if counted {
		m.lanes[p.lane].use(p.costs, m.limits, sign)
	}
}

// decided hears from the gate of a ticket that waited there. The gate is locked.
func (m *Member) decided(t *admission.Ticket, v admission.Verdict) {
	p, ok := t.Place.(*place)
	if !ok || p == m.asking {
		return
	}
	m.left(p, false)
	switch {
	case p.gone:
		m.places.remove(p)
		return
	case v.State == budget.Admitted:
		m.hold(p)
	default:
		m.places.remove(p)
	}
	m.tell(t, v)
}

// left takes a call out of what waits; stays says that it waits elsewhere next.
func (m *Member) left(p *place, stays bool) {
	switch p.where {
	case aside:
		m.apart--
		m.stale = true
		m.bytes -= p.ticket.Bytes
	case queued:
	case away, holding:
		return
	}
	m.waiting--
	m.lanes[p.lane].leave(p, stays)
	p.where = away
}

// tell tells what was decided about a ticket that waited.
func (m *Member) tell(t *admission.Ticket, v admission.Verdict) {
	if m.opts.Decided != nil {
		m.opts.Decided(t, v)
		return
	}
	t.Signal()
}

// Verdict is the latest decision about t.
func (m *Member) Verdict(t *admission.Ticket) admission.Verdict {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p, ok := t.Place.(*place); ok {
		switch {
		case p.where == aside:
			return admission.Verdict{State: budget.Queued, Wait: p.refusal.Wait}
		case p.told:
			return p.refusal
		}
	}
	return m.gate.Verdict(t)
}
