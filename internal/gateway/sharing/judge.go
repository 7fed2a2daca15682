// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
)

const (
	// trial is how long a large call waits at the most for the pool to say when it may go, if by its lane's share it would be
	// late: there may be more than that. It is a draw and its answer, and some more for where they are lost.
	trial = 2 * interval
	// fresh is for how long what the pool said of a lane counts.
	fresh = 2 * interval
	// endless is a wait, in seconds, that no call has.
	endless = 1e9
)

// judge says how a large call is refused, by when, and whether it is now.
func (m *Member) judge(p *place, now time.Time) (v admission.Verdict, by time.Time, refused bool) {
	by = m.startBy(p)
	wait, k, told := m.awaits(p, by, now)
	v = m.refusal(p, &m.limits[k], budget.ReasonDeadline, wait)
	for k := range m.limits {
		switch l := &m.limits[k]; {
		case l.atLeast(p.ticket) > float64(l.Burst):
			return m.refusal(p, l, budget.ReasonTooLarge, 0), by, true
		case l.usedUp && p.costs[k] > 0:
			return m.refusal(p, l, budget.ReasonCapReached, l.until(p.costs[k])), by, true
		}
	}
	late := !by.IsZero() && now.Add(wait).After(by)
	p.tried = false
	switch {
	case p.where != aside && !p.again && m.full(p):
		v.Reason = budget.ReasonQueueFull
		return v, by, true
	case late && (told || !now.Before(by) || !m.leased && !m.answers(now)):
		return v, by, true
	case late:
		p.tried = true
		if end := now.Add(trial); end.Before(by) {
			by = end
		}
		return v, by, false
	}
	v.Reason = budget.ReasonQueueExpired
	if k := m.capped(p); k != nil {
		// A cap is not waited for.
		v = m.refusal(p, k, budget.ReasonCapReached, k.until(k.cost(p.ticket)))
		if end := now.Add(2 * interval); by.IsZero() || end.Before(by) {
			by = end
		}
	}
	return v, by, false
}

// awaits is when a large call may go that must by then, as far as the pool said or else by its lane's share, and the limit it waits
// for longest. Without a lease it is by the safe share for whom it must not outlast a change of leaders.
func (m *Member) awaits(p *place, by, now time.Time) (wait time.Duration, scarcest int, told bool) {
	if wait, scarcest, told = m.foretold(p); !told {
		wait, scarcest = m.ahead(p, m.answers(now) && !by.IsZero() && by.Sub(now) <= reconnect)
	}
	return wait, scarcest, told
}

func (m *Member) refusal(p *place, l *limit, why budget.Reason, wait time.Duration) admission.Verdict {
	return admission.Verdict{
		State: budget.Refused, Reason: why, Wait: wait, Limit: l.Name, Need: l.cost(p.ticket), Amount: l.described(!m.leased),
	}
}

// capped is a cap that has too little in hand for the call, nil if there is none.
func (m *Member) capped(p *place) *limit {
	for k := range m.limits {
		if l := &m.limits[k]; l.caps && m.holder.Balance(l.Name, m.at) < p.costs[k] {
			return l
		}
	}
	return nil
}

// full says whether there is no room for another call aside.
func (m *Member) full(p *place) bool {
	l, lane := &m.lanes[p.lane], &m.route.Lanes[p.lane]
	switch {
	case l.apart.n >= max(int(lane.MaxDepth), 1), m.apart >= maxAside:
		return true
	case lane.MaxBytes > 0 && l.bytes+p.ticket.Bytes > lane.MaxBytes:
		return true
	}
	return m.opts.MaxBytes > 0 && m.bytes+p.ticket.Bytes > m.opts.MaxBytes
}

// ahead is when a large call may go: by its lane's rate after those before it, or if nothing is scarce by all of the rate,
// and the limit it waits for longest. With safe it is by what comes now, without a lease.
func (m *Member) ahead(p *place, safe bool) (time.Duration, int) {
	wait, scarcest := 0.0, 0
	for k := range m.limits {
		l := &m.limits[k]
		if l.slots || l.caps || p.costs[k] == 0 {
			continue
		}
		need, full := p.costs[k], l.rate
		if p.where != aside {
			// What waits already counts itself.
			need += m.lanes[p.lane].apart.units[k]
		}
		if safe {
			full = l.expected
		}
		if share := float64(m.route.Lanes[p.lane].SharePermille) / 1000; share > 0 && (safe || l.expected < l.rate) {
			full *= share
		}
		if full > 0 && need/full > wait {
			wait, scarcest = need/full, k
		}
	}
	return time.Duration(min(wait, endless) * float64(time.Second)), scarcest
}

// startBy is when a call must have begun; zero is never.
func (m *Member) startBy(p *place) time.Time {
	var by time.Time
	t := p.ticket
	if !t.Deadline.IsZero() {
		by = t.Deadline.Add(-t.CallTime)
	}
	if most := m.route.Lanes[p.lane].MaxWaitMillis; most > 0 {
		if end := t.Arrival.Add(time.Duration(most) * time.Millisecond); by.IsZero() || end.Before(by) {
			by = end
		}
	}
	return by
}
