// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
)

// A large call waits at the pool, where its lane's share is that of all gateways, and not at the gate, which would judge it
// by what comes to this gateway alone. It enters the gate when it was granted.

// reconnect is how long a large call waits at the least for a gateway that hears nothing to be heard again, as after a
// change of leaders. One that cannot wait so long has the safe share.
const reconnect = 30 * time.Second

// hopes says whether a large call may be granted.
func (m *member) hopes(t *admission.Ticket, now time.Time) bool {
	if m.holder.Leased(now) {
		return true
	}
	by := m.startBy(t, m.lane(t))
	return by.IsZero() || by.Sub(now) > reconnect
}

// has says whether the holder has a call's whole cost, and nobody else needs it.
func (m *member) has(t *admission.Ticket, now time.Time) bool {
	return len(m.waiting) == 0 && m.holder.Leased(now) && m.covers(t, now)
}

// covers says whether the holder has a call's whole cost.
func (m *member) covers(t *admission.Ticket, now time.Time) bool {
	for i := range m.limits {
		if c := cost(&m.limits[i].Limit, t); c > 0 && m.holder.Balance(m.limits[i].Name, now) < c {
			return false
		}
	}
	return true
}

// park lets a large call wait to be granted, if that may be in time.
func (m *member) park(w *waiter, now time.Time) admission.Verdict {
	t, lane := w.ticket, m.lane(w.ticket)
	wait, scarcest := m.ahead(t, lane)
	by := m.startBy(t, lane)
	refused := admission.Verdict{State: budget.Refused, Wait: wait, Limit: scarcest.Name, Need: cost(&scarcest.Limit, t)}
	refused.Amount = admission.Described(float64(scarcest.Amount), time.Duration(scarcest.WindowSeconds)*time.Second)
	refused.Reason = budget.ReasonDeadline
	switch {
	case refused.Need > float64(scarcest.Burst):
		refused.Reason, refused.Wait = budget.ReasonTooLarge, 0
		return refused
	case !w.again && m.parked(lane) >= max(int(m.route.Lanes[lane].MaxDepth), 1):
		refused.Reason = budget.ReasonQueueFull
		return refused
	case !by.IsZero() && now.Add(wait).After(by):
		return refused
	}
	w.parked = true
	m.waiting = append(m.waiting, w)
	m.hasten()
	if !by.IsZero() {
		m.f.env.Clock.After(by.Sub(now)+time.Nanosecond, func() { m.expire(w, refused) })
	}
	return admission.Verdict{State: budget.Queued, Wait: wait}
}

// ahead is when a large call may be granted: by its lane's rate after those before it, or if nothing is scarce by all of
// the rate, and the limit it waits for longest.
func (m *member) ahead(t *admission.Ticket, lane int) (time.Duration, *limit) {
	wait, scarcest := 0.0, &m.limits[0]
	for i := range m.limits {
		l := &m.limits[i]
		need, full := cost(&l.Limit, t), rate(l.Limit)
		for _, w := range m.waiting {
			if w.parked && m.lane(w.ticket) == lane {
				need += cost(&l.Limit, w.ticket)
			}
		}
		if share := float64(m.route.Lanes[lane].SharePermille) / 1000; share > 0 && l.expected < full {
			full *= share
		}
		if full > 0 && need/full > wait {
			wait, scarcest = need/full, l
		}
	}
	return time.Duration(wait * float64(time.Second)), scarcest
}

func (m *member) startBy(t *admission.Ticket, lane int) time.Time {
	var by time.Time
	if !t.Deadline.IsZero() {
		by = t.Deadline.Add(-t.CallTime)
	}
	if most := m.route.Lanes[lane].MaxWaitMillis; most > 0 {
		if end := t.Arrival.Add(time.Duration(most) * time.Millisecond); by.IsZero() || end.Before(by) {
			by = end
		}
	}
	return by
}

func (m *member) parked(lane int) int {
	n := 0
	for _, w := range m.waiting {
		if w.parked && m.lane(w.ticket) == lane {
			n++
		}
	}
	return n
}

// unpark has the gate decide about large calls that were granted.
func (m *member) unpark(now time.Time) {
	for _, w := range append([]*waiter(nil), m.waiting...) {
		if !w.parked || w.number == 0 || !m.granted(w) {
			continue
		}
		w.parked, w.ticket.Granted = false, true
		v := admission.Verdict{}
		if w.again {
			v = m.Gate.Retry(w.ticket, w.notBefore, now)
		} else {
			v = m.Gate.Enter(w.ticket, now)
		}
		if v.State != budget.Queued {
			m.tell(w.ticket, v)
		}
		m.sync(now)
	}
}

func (m *member) granted(w *waiter) bool {
	_, newest := m.holder.Granted(m.route.Lanes[m.lane(w.ticket)].Name, "")
	return newest >= w.number
}

// expire refuses a call that was not granted in time.
func (m *member) expire(w *waiter, refused admission.Verdict) {
	if m.dead || !w.parked || !m.waits(w) {
		return
	}
	refused.Reason = budget.ReasonQueueExpired
	m.tell(w.ticket, refused)
	m.f.env.Wake(m.index)
}

func (m *member) waits(w *waiter) bool {
	for _, other := range m.waiting {
		if other == w {
			return true
		}
	}
	return false
}
