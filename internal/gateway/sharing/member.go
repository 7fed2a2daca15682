// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
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
	// slotted says that calls in flight are limited.
	slotted bool
	// levels and spent are room for the gate's levels and what they fell by, pockets are the limits' places at the holder, but of
	// slots.
	levels, spent []float64
	pockets       []int
	shares        map[string]admission.Share
	term          pool.Term

	places places
	// waiting counts the calls that wait, apart those of them that do so aside, and bytes is what these keep.
	waiting, apart int
	bytes          int64
	// number is the newest large call's, asking the place that the gate is asked about.
	number uint64
	asking *place

	// safeFrom is when the safe share begins.
	started, safeFrom time.Time
	// leased says that what was granted may be spent, until leaseEnds; open that nothing binds, without a lease.
	leased, open bool
	leaseEnds    time.Time
	// lease is leaseEnds by the holder's clock.
	lease time.Time
	// gaveUp says that who waited aside has the safe share by now, in this outage.
	gaveUp bool
	// silence is how long there was no lease, until the last began.
	silence time.Duration
	// drawn is when demand was last worked out, early that more is needed than was asked for then.
	drawn time.Time
	early bool
	// announced is what Due said last, noticed that it is as early as the holder has it.
	announced time.Time
	noticed   bool
	// expectedAt is when what is expected was last taken in.
	expectedAt time.Time
	draining   bool

	timer   *time.Timer
	timerAt time.Time
	// step is when what waits while nothing binds is looked at again.
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
		Facts: opts.Facts, Shared: true, Clock: m.now, Decided: m.decided, MaxBytes: opts.MaxBytes, Owned: true,
	}, route, maxGateways, now)
	cfg := pool.HolderConfig{
		Name: opts.Holder, Incarnation: opts.Incarnation, Interval: interval, TTL: opts.TTL, Fresh: opts.Fresh,
		Outage: outage(&route),
	}
	m.step = now
	m.at = m.elapsed.at(now)
	m.holder = pool.NewHolder(cfg, m.at)
	m.adopt(route)
	m.expect(now)
	m.begin(now)
	m.noteLevels(now)
	return m
}

// Estimator is what the member has learned of costs.
func (m *Member) Estimator() *admission.Estimator { return m.gate.Estimator() }

// Floor is as the gate's.
func (m *Member) Floor(t *admission.Ticket, r *dialect.Reading) (time.Duration, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.gate.Floor(t, r)
}

// Succeeded is as the gate's.
func (m *Member) Succeeded(t *admission.Ticket) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gate.Succeeded(t)
}

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
