// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"context"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
)

// Wait blocks until a queued ticket is decided or ctx ends; then the ticket has left the queue.
func (m *Member) Wait(ctx context.Context, t *admission.Ticket) (admission.Verdict, error) {
	select {
	case <-t.Ready():
		return m.Verdict(t), nil
	case <-ctx.Done():
	}
	m.Release(t, admission.Settlement{Kind: admission.NotSent})
	return admission.Verdict{State: budget.Cancelled}, ctx.Err()
}

// Release ends t's send: it settles a reservation that is held, and takes a queued ticket out of its queue. Later calls
// change nothing.
func (m *Member) Release(t *admission.Ticket, s admission.Settlement) { m.ReleaseAt(t, s, m.now()) }

// ReleaseAt is Release at a given time.
func (m *Member) ReleaseAt(t *admission.Ticket, s admission.Settlement, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.catchUp(now)
	if p, ok := t.Place.(*place); ok && (p.where == queued || p.where == aside) && t.Shadow && s.Kind != admission.NotSent {
		m.later(p, s, now)
	} else {
		if ok {
			m.forget(p)
		}
		m.gate.ReleaseAt(t, s, now)
	}
	m.charge(now)
	m.rearm(now)
}

// later keeps the settlement of a shadow call that has gone in fact for when it would have.
func (m *Member) later(p *place, s admission.Settlement, now time.Time) {
	p.gone = true
	if p.where == aside {
		p.late = &s
		return
	}
	m.gate.ReleaseAt(p.ticket, s, now)
}

// forget ends a place. What waits at the gate is to be taken out there.
func (m *Member) forget(p *place) {
	switch p.where {
	case aside:
		m.unoffered(p)
	case holding:
		m.slots(p, -1)
	case away, queued:
	}
	m.left(p, false)
	m.places.remove(p)
}

// Charge charges output as it is produced, beyond what was reserved.
func (m *Member) Charge(t *admission.Ticket, output float64, now time.Time) {
	if !t.Exceeds(output) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.catchUp(now)
	m.gate.Charge(t, output, now)
	m.charge(now)
	m.rearm(now)
}
