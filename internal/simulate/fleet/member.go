// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/simulate/gateway"
)

// member is one incarnation of a gateway: a gate whose limits have what its holder may spend.
type member struct {
	*admission.Gate
	f           *Fleet
	index       int
	incarnation uint64
	now         func() time.Time
	// tell tells what was decided about a ticket that waited.
	tell   func(*admission.Ticket, admission.Verdict)
	dead   bool
	route  plan.Route
	holder *pool.Holder
	limits []limit
	term   pool.Term
	shares map[string]admission.Share

	// waiting are tickets in the gate's queues, in the order in which they came, inUse those that hold a slot.
	waiting []*waiter
	inUse   map[*admission.Ticket]bool
	lanes   []laneDemand
	// reported is when demand was last worked out, early that more is needed than was asked for then.
	reported time.Time
	// expectedAt is when what is expected was last taken in.
	expectedAt time.Time
	early      bool
	timer      uint64
}

// limit is what is shared of one limit.
type limit struct {
	plan.Limit
	// level is the gate's, as it was left.
	level float64
	// granted is by lane what of the holder's totals the gate was fed, expected is how fast it comes to small calls.
	granted  []float64
	seen     sight
	expected float64
}

var _ gateway.Admission = (*member)(nil)

func newMember(f *Fleet, i int, opts admission.Options, fresh bool) *member {
	m := &member{f: f, index: i, incarnation: f.incarnations, now: opts.Clock, inUse: map[*admission.Ticket]bool{}}
	decided := opts.Decided
	opts.Shared = true
	m.tell = func(t *admission.Ticket, v admission.Verdict) {
		m.decided(t, v)
		decided(t, v)
	}
	opts.Decided = m.tell
	m.reported = m.now()
	cfg := pool.HolderConfig{Name: name(i), Incarnation: m.incarnation, Interval: interval, Fresh: fresh}
	cfg.Budgets = f.safe()
	m.holder = pool.NewHolder(cfg, m.now())
	m.Gate = admission.New(opts, f.route, f.env.MaxGateways, m.now())
	m.adopt(f.route)
	return m
}

// adopt takes over a route's limits and lanes.
func (m *member) adopt(route plan.Route) {
	old, lanes, were := m.limits, m.lanes, m.route.Lanes
	m.route, m.limits, m.lanes = route, nil, make([]laneDemand, len(route.Lanes))
	for _, l := range route.Limits {
		k := limit{Limit: l, granted: make([]float64, len(route.Lanes)), expected: rate(l)}
		for _, o := range old {
			if o.Name == l.Name {
				k.level = o.level
				m.carry(k.granted, o.granted, were)
			}
		}
		m.limits = append(m.limits, k)
	}
	for i := range m.lanes {
		if j := place(were, route.Lanes[i].Name); j >= 0 {
			m.lanes[i].number = lanes[j].number
		}
		m.lanes[i].perSecond = make([]float64, len(m.limits))
		m.lanes[i].came = make([]float64, len(m.limits))
	}
	m.share(m.now())
}

// carry takes over what the gate was fed, by the lanes' names.
func (m *member) carry(to, from []float64, were []plan.Lane) {
	for i := range to {
		if j := place(were, m.route.Lanes[i].Name); j >= 0 {
			to[i] = from[j]
		}
	}
}

func place(lanes []plan.Lane, name string) int {
	return slices.IndexFunc(lanes, func(l plan.Lane) bool { return l.Name == name })
}

// configure puts an edited route in force.
func (m *member) configure(route plan.Route) {
	now := m.now()
	m.sync(now)
	m.holder.Apply(m.f.safe(), now)
	m.Configure(route, m.f.env.MaxGateways, now)
	m.adopt(route)
	for i := range m.limits {
		m.limits[i].level = m.Balance(m.limits[i].Name, now)
	}
	m.sync(now)
	m.f.env.Wake(m.index)
}

// share tells the gate what its shares are, if that has changed enough.
func (m *member) share(now time.Time) {
	shares, changed := map[string]admission.Share{}, m.shares == nil || len(m.shares) != len(m.limits)
	for i := range m.limits {
		l := &m.limits[i]
		s := admission.Share{RatePerSecond: l.expected, Capacity: float64(l.Burst), Fed: true}
		if l.Budget == plan.InFlight {
			s = admission.Share{Capacity: max(0, m.holder.Balance(l.Name, now)+float64(len(m.inUse)))}
		}
		had := m.shares[l.Name]
		changed = changed || s.Capacity != had.Capacity ||
			s.RatePerSecond > had.RatePerSecond*1.1 || s.RatePerSecond < had.RatePerSecond*0.9
		shares[l.Name] = s
	}
	if changed {
		m.shares = shares
		m.SetShares(shares, now)
	}
}

// sync charges the holder with what the gate spent since, and gives the gate what the holder has.
func (m *member) sync(now time.Time) {
	again := m.holder.Term() != m.term
	m.term = m.holder.Term()
	for i := range m.limits {
		l := &m.limits[i]
		if l.Budget == plan.InFlight {
			continue
		}
		if spent := l.level - m.Balance(l.Name, now); spent != 0 {
			m.holder.Charge(l.Name, spent, now)
			l.level -= spent
		}
		m.feed(l, again, now)
	}
}

// feed brings the gate's level to the holder's balance: what was granted to a lane is its credit there.
func (m *member) feed(l *limit, again bool, now time.Time) {
	lack := m.holder.Balance(l.Name, now) - l.level
	for i, lane := range m.route.Lanes {
		granted, _ := m.holder.Granted(lane.Name, l.Name)
		if again {
			l.granted[i] = 0
		}
		if more := min(granted-l.granted[i], lack); more > 0 {
			m.Feed(l.Name, i, more, now)
			lack -= more
		}
		l.granted[i] = granted
	}
	if lack != 0 {
		m.Feed(l.Name, -1, lack, now)
	}
	l.level = m.Balance(l.Name, now)
}

// receive takes in a grant.
func (m *member) receive(g *pool.Grant) {
	now := m.now()
	m.sync(now)
	m.holder.Receive(g, now)
	m.sync(now)
	// Who was granted something goes before the gate looks at anything else.
	m.unpark(now)
	m.expect(now)
	m.schedule()
	m.f.env.Wake(m.index)
}

// Enter implements gateway.Admission.
func (m *member) Enter(t *admission.Ticket, now time.Time) admission.Verdict {
	m.sync(now)
	m.lanes[m.lane(t)].add(m, t)
	t.Granted = false
	if m.large(t) && m.hopes(t, now) {
		if !m.has(t, now) {
			return m.park(&waiter{ticket: t}, now)
		}
		t.Granted = true
	}
	v := m.Gate.Enter(t, now)
	m.entered(t, v, now)
	return v
}

// Retry implements gateway.Admission.
func (m *member) Retry(t *admission.Ticket, notBefore, now time.Time) admission.Verdict {
	m.sync(now)
	t.Granted = false
	if m.large(t) && m.hopes(t, now) {
		if notBefore.After(now) || !m.has(t, now) {
			return m.park(&waiter{ticket: t, again: true, notBefore: notBefore}, now)
		}
		t.Granted = true
	}
	v := m.Gate.Retry(t, notBefore, now)
	m.entered(t, v, now)
	return v
}

func (m *member) entered(t *admission.Ticket, v admission.Verdict, now time.Time) {
	m.sync(now)
	switch v.State {
	case budget.Admitted:
		m.held(t, true)
	case budget.Queued:
		m.waiting = append(m.waiting, &waiter{ticket: t})
		m.hasten()
	default:
		m.hasten()
	}
}

// decided hears of a ticket that waited.
func (m *member) decided(t *admission.Ticket, v admission.Verdict) {
	m.forget(t)
	m.held(t, v.State == budget.Admitted)
}

// held counts slots.
func (m *member) held(t *admission.Ticket, yes bool) {
	if m.inUse[t] == yes {
		return
	}
	more := 1.0
	if yes {
		m.inUse[t] = true
	} else {
		delete(m.inUse, t)
		more = -1
	}
	for i := range m.limits {
		if m.limits[i].Budget == plan.InFlight {
			m.holder.Charge(m.limits[i].Name, more, m.now())
		}
	}
}

// ReleaseAt implements gateway.Admission.
func (m *member) ReleaseAt(t *admission.Ticket, s admission.Settlement, now time.Time) {
	m.sync(now)
	m.forget(t)
	m.held(t, false)
	m.Gate.ReleaseAt(t, s, now)
	m.sync(now)
}

// Charge implements gateway.Admission.
func (m *member) Charge(t *admission.Ticket, output float64, now time.Time) {
	m.sync(now)
	m.Gate.Charge(t, output, now)
	m.sync(now)
}

// Advance implements gateway.Admission.
func (m *member) Advance(now time.Time) {
	m.sync(now)
	m.Gate.Advance(now)
	m.sync(now)
}
