// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"slices"
	"sync"
	"time"

	"github.com/headgate-dev/headgate/internal/budget/pool"
	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
)

// interval is how often a member draws.
const interval = time.Second

// Options say what a member guards, and who it is.
type Options struct {
	Facts facts.Facts
	// Holder and Incarnation are its names at the pool; one incarnation has one member of a route. Fresh says that none was
	// before it: see pool.HolderConfig.
	Holder      string
	Incarnation uint64
	Fresh       bool
	// TTL is how long a lease lasts; 0 is the pool's own choice.
	TTL time.Duration
	// Clock, Decided and MaxBytes are as in admission.Options. With Decided set the member sets no timer: its owner calls
	// Advance when Next says so.
	Clock    func() time.Time
	Decided  func(*admission.Ticket, admission.Verdict)
	MaxBytes int64
	// Hastened, if set, is told when Due has become earlier than what it said last. The member is locked meanwhile.
	Hastened func()
}

// Member admits the calls of one route of a gateway among others. It is safe for concurrent use.
type Member struct {
	opts Options
	now  func() time.Time
	gate *admission.Gate

	mu     sync.Mutex
	holder *pool.Holder
	// at is the time by the holder's clock, which counts suspension.
	elapsed     elapsed
	at          time.Time
	route       plan.Route
	maxGateways int32
	limits      []limit
	lanes       []lane
	// levels is room for the gate's.
	levels []float64
	shares map[string]admission.Share
	term   pool.Term

	places places
	// waiting counts the calls that wait, apart those of them that do so aside, and bytes is what these keep.
	waiting, apart int
	bytes          int64
	// number is the newest large call's, asking the place that the gate is asked about.
	number uint64
	asking *place

	started time.Time
	// leased says that what was granted may be spent, until leaseEnds; open that nothing binds, without a lease.
	leased, open bool
	leaseEnds    time.Time
	// drawn is when demand was last worked out, early that more is needed than was asked for then.
	drawn time.Time
	early bool
	// announced is what Due said last.
	announced time.Time
	// expectedAt is when what is expected was last taken in.
	expectedAt time.Time
	draining   bool

	timer   *time.Timer
	timerAt time.Time
	// step is when what waits without a lease is looked at again.
	step   time.Time
	closed bool
	// soonestBy is when the first of the calls that wait aside must have been decided; stale says that they have changed.
	soonestBy time.Time
	stale     bool
}

// New returns a member for route; maxGateways bounds the safe shares of limits that are of no account.
func New(opts Options, route plan.Route, maxGateways int32, now time.Time) *Member {
	m := &Member{opts: opts, now: opts.Clock, route: plan.Route{}, maxGateways: maxGateways, started: now, drawn: now, expectedAt: now}
	if m.now == nil {
		m.now = time.Now
	}
	m.places.init()
	m.gate = admission.New(admission.Options{
		Facts: opts.Facts, Shared: true, Clock: m.now, Decided: m.decided, MaxBytes: opts.MaxBytes,
	}, route, maxGateways, now)
	cfg := pool.HolderConfig{
		Name: opts.Holder, Incarnation: opts.Incarnation, Interval: interval, TTL: opts.TTL, Fresh: opts.Fresh,
		Outage: outage(&route),
	}
	m.at = m.elapsed.at(now)
	m.holder = pool.NewHolder(cfg, m.at)
	m.adopt(route)
	m.expect(now)
	return m
}

// Configure puts an edited route in force. Levels and waiting calls are kept.
func (m *Member) Configure(route plan.Route, maxGateways int32, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.catchUp(now)
	m.maxGateways = maxGateways
	m.gate.Configure(route, maxGateways, now)
	m.adopt(route)
	m.level(now)
	m.expect(now)
	m.recheck(now)
	m.run(now)
}

// adopt takes over a route's limits and lanes.
func (m *Member) adopt(route plan.Route) {
	if len(route.Lanes) == 0 {
		route.Lanes = []plan.Lane{{Name: "default", SharePermille: 1000}}
	}
	old, oldLanes, were := m.limits, m.lanes, m.route.Lanes
	m.route, m.limits, m.lanes = route, nil, make([]lane, len(route.Lanes))
	budgets := make([]pool.HolderBudget, 0, len(route.Limits))
	for _, l := range route.Limits {
		k := newLimit(l, m.maxGateways, len(route.Lanes))
		if i := slices.IndexFunc(old, func(o limit) bool { return o.Name == l.Name && o.slots == k.slots }); i >= 0 {
			k.carry(&old[i], route.Lanes, were)
		}
		m.limits = append(m.limits, k)
		budgets = append(budgets, k.safe)
	}
	m.holder.Adopt(budgets, outage(&route), m.at)
	for i := range m.lanes {
		m.lanes[i] = newLane(len(m.limits))
		if j := indexOf(were, route.Lanes[i].Name); j >= 0 {
			m.keep(&m.lanes[i], &oldLanes[j], old)
		}
	}
	m.resettle(were)
}

// carry takes over what is known of a limit.
func (l *limit) carry(old *limit, lanes, were []plan.Lane) {
	l.level, l.seen, l.debt, l.unoffered = old.level, old.seen, old.debt, old.unoffered
	if old.rate > 0 {
		l.expected = min(l.rate, old.expected*l.rate/old.rate)
	}
	for i := range lanes {
		if j := indexOf(were, lanes[i].Name); j >= 0 {
			l.granted[i] = old.granted[j]
		}
	}
}

// keep takes over what a lane needed of late.
func (m *Member) keep(to, from *lane, old []limit) {
	for k := range m.limits {
		for j := range old {
			if old[j].Name == m.limits[k].Name {
				to.perSecond[k], to.came[k] = from.perSecond[j], from.came[j]
			}
		}
	}
}

// resettle finds the place of every live call among the new limits and lanes.
func (m *Member) resettle(were []plan.Lane) {
	m.places.each(func(p *place) {
		i := -1
		if p.lane < len(were) {
			i = indexOf(m.route.Lanes, were[p.lane].Name)
		}
		if i < 0 {
			i = len(m.route.Lanes) - 1
		}
		p.lane, p.listed = i, false
		m.value(p)
		switch p.where {
		case aside, queued:
			m.lanes[p.lane].wait(p)
		case holding:
			m.lanes[p.lane].use(p.costs, m.limits, 1)
		case away:
		}
	})
}

func indexOf(lanes []plan.Lane, name string) int {
	return slices.IndexFunc(lanes, func(l plan.Lane) bool { return l.Name == name })
}

// value works out what a call takes.
func (m *Member) value(p *place) {
	p.costs, p.large = p.costs[:0], false
	nothing := false
	for k := range m.limits {
		l := &m.limits[k]
		c := l.cost(p.ticket)
		nothing = nothing || c > 0 && l.Burst <= 0
		if l.Budget != plan.Requests && !l.slots && c > l.small {
			p.large = true
		}
		p.costs = append(p.costs, min(c, l.capacity))
	}
	// What lets nothing pass refuses at once.
	p.large = p.large && !nothing
}

// Estimator is what the member has learned of costs.
func (m *Member) Estimator() *admission.Estimator { return m.gate.Estimator() }

// Floor is as the gate's.
func (m *Member) Floor(t *admission.Ticket, r *dialect.Reading) (time.Duration, bool) {
	return m.gate.Floor(t, r)
}

// Succeeded is as the gate's.
func (m *Member) Succeeded(t *admission.Ticket) { m.gate.Succeeded(t) }

// Close stops the timer: nothing is decided by time any more.
func (m *Member) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	if m.timer != nil {
		m.timer.Stop()
	}
	m.gate.Close()
}
