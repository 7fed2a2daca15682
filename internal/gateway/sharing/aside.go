// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
)

// A large call waits aside, to be granted by the pool, where its lane's share is that of all gateways, and not at the gate,
// which would judge it by what comes to this gateway alone. It enters the gate when it was granted.

const (
	// reconnect is how long large calls wait for a member that hears nothing to be heard again, as after a change of leaders.
	// Then those have the safe share whom that serves in time.
	reconnect = 30 * time.Second
	// maxAside bounds the calls that wait aside on a route, as those at its gate are.
	maxAside = 10_000
)

// hopes says whether a large call is to wait for the pool. Without a lease whom the safe share does not serve in time hopes for
// its end, if that may be any moment or there is time for it, and the others do so only as long as they have time for both.
func (m *Member) hopes(p *place, now time.Time) bool {
	switch {
	case m.leased:
		return true
	case m.open, m.draining:
		return false
	}
	by, until := m.startBy(p), m.silentSince().Add(reconnect)
	wait, _ := m.ahead(p, true)
	if !by.IsZero() && now.Add(wait).After(by) {
		return by.Sub(now) > reconnect || m.answers(now)
	}
	return now.Before(until) && (by.IsZero() || !until.Add(wait).After(by))
}

// answers says whether the pool, which is not heard, may be any moment: the member has only begun, or has lost its lease just now.
func (m *Member) answers(now time.Time) bool {
	return !m.leased && !m.open && !m.draining && now.Before(m.silentSince().Add(trial))
}

// has says whether the holder has a call's whole cost, and nobody else needs it.
func (m *Member) has(p *place) bool { return m.waiting == 0 && m.leased && m.covers(p) }

// covers says whether the holder has a call's whole cost.
func (m *Member) covers(p *place) bool {
	for k, c := range p.costs {
		if c > 0 && m.holder.Balance(m.limits[k].Name, m.at) < c {
			return false
		}
	}
	return true
}

// park lets a large call wait to be granted, if that may be in time.
func (m *Member) park(p *place, now time.Time) admission.Verdict {
	refusal, by, refused := m.judge(p, now)
	if refused {
		// A shadow has gone in fact, and is charged nothing.
		m.unoffered(p)
		m.places.remove(p)
		m.hasten()
		m.rearm(now)
		return refusal
	}
	p.where, p.by, p.refusal = aside, by, refusal
	m.waiting++
	m.apart++
	m.stale = true
	m.bytes += p.ticket.Bytes
	m.lanes[p.lane].wait(p)
	m.hasten()
	m.rearm(now)
	return admission.Verdict{State: budget.Queued, Wait: refusal.Wait}
}

// unpark has the gate decide about large calls that were granted.
func (m *Member) unpark(now time.Time) {
	for i := range m.lanes {
		for _, p := range slices.Clone(m.lanes[i].large) {
			if p.where == aside && p.number > 0 && m.granted(p) {
				m.lanes[i].granted(now)
				m.admit(p, true, now)
			}
		}
	}
}

// admit has the gate decide about a call that waited aside.
func (m *Member) admit(p *place, granted bool, now time.Time) {
	t := p.ticket
	m.left(p, true)
	t.Lane, t.Granted = p.lane, granted
	v := m.ask(p, now)
	switch v.State {
	case budget.Queued:
		m.queue(p)
	case budget.Admitted:
		m.unlist(p)
		m.hold(p)
		// What went is outstanding at the pool until it hears of it.
		m.hasten()
	default:
		m.unlist(p)
	}
	switch {
	case p.late != nil:
		m.settleLate(p, now)
	case v.State == budget.Refused:
		m.places.remove(p)
		m.tell(t, v)
	case v.State == budget.Admitted:
		m.tell(t, v)
	}
	m.charge(now)
}

// settleLate settles a shadow call that has gone in fact, or has the gate do it when it would have.
func (m *Member) settleLate(p *place, now time.Time) {
	s, t := *p.late, p.ticket
	p.late = nil
	if p.where != queued {
		m.forget(p)
	}
	m.gate.ReleaseAt(t, s, now)
}

// unlist takes a call out of its lane's large ones.
func (m *Member) unlist(p *place) {
	if l := &m.lanes[p.lane]; p.listed {
		p.listed = false
		i := slices.Index(l.large, p)
		l.large = slices.Delete(l.large, i, i+1)
	}
}

func (m *Member) granted(p *place) bool { return m.wasGranted(p.lane, p.number) }

func (m *Member) wasGranted(lane int, number uint64) bool {
	_, newest := m.holder.Granted(m.route.Lanes[lane].Name, "")
	return newest >= number
}

// refuse ends the wait of a call aside.
func (m *Member) refuse(p *place, v admission.Verdict) {
	m.unoffered(p)
	m.left(p, false)
	t := p.ticket
	p.refusal, p.told = v, true
	if t.Shadow || m.opts.Decided != nil {
		m.places.remove(p)
	}
	if !t.Shadow {
		m.tell(t, v)
	}
}

// apartNow are the calls that wait aside.
func (m *Member) apartNow() []*place {
	if m.apart == 0 {
		return nil
	}
	out := make([]*place, 0, m.apart)
	m.places.each(func(p *place) {
		if p.where == aside {
			out = append(out, p)
		}
	})
	return out
}

// expire refuses calls that were not granted in time.
func (m *Member) expire(now time.Time) {
	if by := m.soonest(); by.IsZero() || !now.After(by) {
		return
	}
	for _, p := range m.apartNow() {
		if !p.by.IsZero() && now.After(p.by) {
			m.refuse(p, m.expired(p))
		}
	}
}

// expired is what a call is told that was not granted in time.
func (m *Member) expired(p *place) admission.Verdict {
	v := p.refusal
	if k := slices.IndexFunc(m.limits, func(l limit) bool { return l.Name == v.Limit }); k >= 0 {
		v.Amount = m.limits[k].described(!m.leased)
	}
	return v
}

// recheck looks again at the calls that wait aside after an edit.
func (m *Member) recheck(now time.Time) {
	for _, p := range m.apartNow() {
		if p.where != aside {
			continue
		}
		if !p.large {
			// Nothing grants it any longer; there may be no limit at all.
			m.admit(p, false, now)
			continue
		}
		v, by, _ := m.judge(p, now)
		switch {
		case v.Reason == budget.ReasonTooLarge:
			m.refuse(p, v)
		case p.by.IsZero() || by.Before(p.by):
			p.by, m.stale = by, true
		}
	}
}

// giveUp has the gate decide about the calls that wait aside when the pool is not heard for long: they have the safe share.
// Whom that does not serve in time goes on hoping.
func (m *Member) giveUp(now time.Time) {
	waits := !m.open && !m.draining && now.Before(m.silentSince().Add(reconnect))
	if m.leased || m.gaveUp && !m.open || waits {
		return
	}
	m.gaveUp = true
	for _, p := range m.apartNow() {
		if p.where != aside {
			continue
		}
		if wait, _ := m.ahead(p, true); m.open || p.by.IsZero() || !now.Add(wait).After(p.by) {
			m.admit(p, false, now)
		}
	}
}

// unoffered counts a call that ends aside as one that was asked for.
func (m *Member) unoffered(p *place) {
	if p.ticket.Counted {
		return
	}
	p.ticket.Counted = true
	for k, c := range p.costs {
		m.limits[k].unoffered += c
	}
}
