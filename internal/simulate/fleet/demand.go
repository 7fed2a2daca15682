// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/plan"
)

// horizon is for how long a gateway asks ahead, in intervals: until the next report is answered.
const horizon = 2

// memory weighs the last interval's arrivals against those before.
const memory = 0.5

// waiter is a ticket in the gate's queues, or parked beside them; number is a large call's, 0 until it is asked for.
type waiter struct {
	ticket *admission.Ticket
	number uint64
	parked bool
	// again says that it was sent before, and is not to be before a time.
	again     bool
	notBefore time.Time
}

// laneDemand is what a lane's calls need, by limit.
type laneDemand struct {
	// perSecond is the average of late, came is what came since the last report.
	perSecond, came []float64
	// number is the newest large call's.
	number uint64
}

func (m *member) lane(t *admission.Ticket) int { return min(max(t.Lane, 0), len(m.lanes)-1) }

// add notes a call that came.
func (d *laneDemand) add(m *member, t *admission.Ticket) {
	if m.large(t) {
		return
	}
	for i := range m.limits {
		d.came[i] += cost(&m.limits[i].Limit, t)
	}
}

// cost is what a ticket takes of a limit.
func cost(l *plan.Limit, t *admission.Ticket) float64 {
	if len(l.Models) > 0 && !slices.ContainsFunc(l.Models, func(glob string) bool { return plan.Glob(glob, t.Account.Model) }) {
		return 0
	}
	switch {
	case l.Budget == plan.Requests, l.Budget == plan.InFlight:
		return 1
	case !t.Metered:
		return 0
	case l.Budget == plan.InputTokens:
		return t.Estimate.Input
	case l.Budget == plan.OutputTokens:
		return t.Estimate.Output
	}
	return t.Estimate.Input + t.Estimate.Output
}

// large says whether a call is asked for as a whole: it takes more than an interval brings.
func (m *member) large(t *admission.Ticket) bool {
	for i := range m.limits {
		l := &m.limits[i].Limit
		if l.Budget != plan.Requests && l.Budget != plan.InFlight && cost(l, t) > max(rate(*l)*interval.Seconds(), smallCall[l.Budget]) {
			return true
		}
	}
	return false
}

func (m *member) forget(t *admission.Ticket) {
	m.waiting = slices.DeleteFunc(m.waiting, func(w *waiter) bool { return w.ticket == t })
}

// hasten has a report be early: something waits that was not asked for.
func (m *member) hasten() {
	if !m.early {
		m.early = true
		m.schedule()
	}
}

// demand works out what each lane needs.
func (m *member) demand(now time.Time) []pool.Demand {
	small := m.expected(now)
	first := m.asked(small, now)
	for t := range m.inUse {
		for k := range m.limits {
			if m.limits[k].Budget == plan.InFlight {
				small[m.lane(t)][k]++
			}
		}
	}
	out := make([]pool.Demand, len(m.lanes))
	for i := range out {
		out[i] = pool.Demand{Lane: m.route.Lanes[i].Name}
		for k := range m.limits {
			if small[i][k] > 0 {
				out[i].Small = append(out[i].Small, pool.Amount{Budget: m.limits[k].Name, Units: small[i][k]})
			}
		}
		if w := first[i]; w != nil {
			m.bulk(&out[i], &m.lanes[i], w)
		}
	}
	return out
}

// expected is, by lane and limit, what small calls will take by what came of late.
func (m *member) expected(now time.Time) [][]float64 {
	dt := now.Sub(m.reported).Seconds()
	m.reported = now
	small := make([][]float64, len(m.lanes))
	for i := range m.lanes {
		d := &m.lanes[i]
		small[i] = make([]float64, len(m.limits))
		for k := range m.limits {
			if dt > 0 {
				weight := min(1, memory*dt/interval.Seconds())
				d.perSecond[k] += weight * (d.came[k]/dt - d.perSecond[k])
				d.came[k] = 0
			}
			if m.limits[k].Budget != plan.InFlight {
				small[i][k] = d.perSecond[k] * interval.Seconds() * horizon
			}
		}
	}
	return small
}

// asked adds what waits: small calls to the rest of their lane's, and of the large ones it returns each lane's first.
func (m *member) asked(small [][]float64, now time.Time) []*waiter {
	first := make([]*waiter, len(m.lanes))
	for _, w := range m.waiting {
		i := m.lane(w.ticket)
		if !w.parked && !m.lost(w, now) {
			for k := range m.limits {
				small[i][k] += cost(&m.limits[k].Limit, w.ticket)
			}
			continue
		}
		if first[i] == nil || w.number > 0 && first[i].number == 0 {
			first[i] = w
		}
	}
	return first
}

// lost says whether a large call that entered has nothing to go with any longer: what it was granted went elsewhere, as a
// debt, and is asked for again.
func (m *member) lost(w *waiter, now time.Time) bool {
	if !m.large(w.ticket) || m.covers(w.ticket, now) {
		return false
	}
	if m.granted(w) {
		w.number = 0
	}
	return true
}

// bulk asks for a large call.
func (m *member) bulk(d *pool.Demand, lane *laneDemand, w *waiter) {
	if w.number == 0 {
		lane.number++
		w.number = lane.number
	}
	d.Bulk = w.number
	for k := range m.limits {
		l := &m.limits[k].Limit
		if l.Budget != plan.InFlight {
			d.Cost = append(d.Cost, pool.Amount{Budget: l.Name, Units: cost(l, w.ticket)})
		}
	}
}

// report sends one.
func (m *member) report() {
	now := m.now()
	m.sync(now)
	r := m.holder.Report(m.demand(now), now)
	r.Seen = m.sights(now)
	m.early = false
	m.expect(now)
	m.sync(now)
	m.f.up(&r)
	m.schedule()
}

// patience is over which time a gateway comes to expect more while calls wait: large calls that come now and then have what
// is expected swing, and who was accepted by the most of it would be given up by the least.
const patience = 30 * time.Second

// expect takes in what small calls may expect: what the pool says, or the safe share.
func (m *member) expect(now time.Time) {
	dt := now.Sub(m.expectedAt)
	m.expectedAt = now
	for k := range m.limits {
		l := &m.limits[k]
		full := rate(l.Limit)
		safe := full / (2 * float64(m.f.config.MaxHolders))
		had := l.expected
		l.expected = full
		if told, ok := m.holder.Expected(l.Name); !m.holder.Leased(now) {
			l.expected = safe
		} else if ok {
			l.expected = min(full, max(safe, told))
			if len(m.waiting) > 0 && l.expected > had {
				l.expected = had + (l.expected-had)*min(1, dt.Seconds()/patience.Seconds())
			}
		}
	}
	m.share(now)
}

// schedule has the next report made when it is due, and without a lease lets what waits have the safe share as it grows.
func (m *member) schedule() {
	now := m.now()
	due := m.holder.Due(now)
	if soon := m.reported.Add(interval / 10); m.early && soon.Before(due) {
		due = soon
	}
	alone := len(m.waiting) > 0 && !m.holder.Leased(now)
	if step := now.Add(interval / 10); alone && step.Before(due) {
		due = step
	}
	m.timer++
	mine := m.timer
	m.f.env.Clock.After(max(due.Sub(now), time.Microsecond), func() {
		if m.dead || m.timer != mine {
			return
		}
		m.fire(alone)
	})
}

// fire reports if that is due.
func (m *member) fire(alone bool) {
	now := m.now()
	soon := m.early && !now.Before(m.reported.Add(interval/10))
	if soon || !m.holder.Due(now).After(now) {
		m.report()
	} else {
		m.schedule()
	}
	if alone {
		m.f.env.Wake(m.index)
	}
}
