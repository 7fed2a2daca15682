// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/ledger"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/simulate/gateway"
)

const (
	// interval is how often gateways report.
	interval = time.Second
	// batch is how long the pool gathers reports before it grants.
	batch = 10 * time.Millisecond
)

// Fleet is the gateways of one route with their pool.
type Fleet struct {
	env     gateway.Env
	route   plan.Route
	pool    *pool.Pool
	epoch   uint64
	members map[int]*member
	// known are the gateways that there were before: their next incarnation is not their first.
	known map[int]bool
	// incarnations numbers them.
	incarnations uint64
	cut          bool
	// due is when the pool is looked at next.
	due    time.Time
	looks  uint64
	burnt  map[string]float64
	burns  int
	config pool.Config
}

var _ gateway.Fleet = (*Fleet)(nil)

// New makes a fleet; it is a gateway.FleetMaker.
func New(env gateway.Env) gateway.Fleet { return NewFleet(env) }

// NewFleet makes a fleet whose leader can be changed.
func NewFleet(env gateway.Env) *Fleet {
	f := &Fleet{env: env, route: env.Route, members: map[int]*member{}, known: map[int]bool{}, burnt: map[string]float64{}}
	f.lead(pool.State{})
	return f
}

// poolConfig is what is shared of a route.
func poolConfig(r *plan.Route, maxGateways int32) pool.Config {
	c := pool.Config{MaxHolders: int(maxGateways), Interval: interval}
	for _, l := range r.Limits {
		c.Budgets = append(c.Budgets, ledger.Budget(l, maxGateways))
	}
	for _, l := range r.Lanes {
		c.Lanes = append(c.Lanes, ledger.Lane(l))
	}
	return c
}

func name(gateway int) string { return fmt.Sprint("gateway-", gateway) }

// lead starts a leader.
func (f *Fleet) lead(last pool.State) {
	f.epoch++
	f.config = poolConfig(&f.route, f.env.MaxGateways)
	by := pool.Leader{Epoch: f.epoch, First: f.epoch == 1, Last: last}
	for _, i := range f.order() {
		by.Holders = append(by.Holders, name(i))
	}
	f.pool = pool.New(f.config, by, f.env.Clock.Now())
	f.pool.Published(f.pool.State(f.env.Clock.Now()))
}

// Follow ends the leader; another begins with what it published.
func (f *Fleet) Follow() {
	now := f.env.Clock.Now()
	last := f.pool.State(now)
	f.pool.Extend(now)
	f.gather()
	f.lead(last)
}

// gather adds up what burnt at a leader that ends.
func (f *Fleet) gather() {
	figures := f.pool.Figures(f.env.Clock.Now())
	f.burns += figures.Burns
	for _, b := range figures.Budgets {
		f.burnt[b.Name] += b.Burnt
	}
}

func (f *Fleet) order() []int { return slices.Sorted(maps.Keys(f.members)) }

// Join implements gateway.Fleet.
func (f *Fleet) Join(i int, opts admission.Options) gateway.Admission {
	f.incarnations++
	m := newMember(f, i, opts, !f.known[i])
	f.known[i] = true
	f.members[i] = m
	f.pool.Expect(name(i), f.env.Clock.Now())
	m.schedule()
	return m
}

// Crash implements gateway.Fleet.
func (f *Fleet) Crash(i int) {
	if m := f.members[i]; m != nil {
		m.dead = true
		delete(f.members, i)
	}
}

// Leave implements gateway.Fleet.
func (f *Fleet) Leave(i int) {
	m := f.members[i]
	if m == nil {
		return
	}
	r := m.Drain(m.now())
	f.Crash(i)
	f.known[i] = false
	f.up(&r)
	f.after(func() {
		if f.members[i] == nil {
			f.pool.Forget(name(i), f.env.Clock.Now())
		}
	})
}

// Partition implements gateway.Fleet.
func (f *Fleet) Partition(cut bool) { f.cut = cut }

// Configure implements gateway.Fleet.
func (f *Fleet) Configure(route plan.Route) {
	f.route = route
	if config := poolConfig(&route, f.env.MaxGateways); f.pool.Apply(config, f.env.Clock.Now()) {
		f.config = config
		f.look(f.env.Clock.Now())
	} else {
		f.Follow()
	}
	for _, i := range f.order() {
		m := f.members[i]
		m.Configure(route, f.env.MaxGateways, m.now())
		m.schedule()
		f.env.Wake(i)
	}
}

// Burned implements gateway.Fleet.
func (f *Fleet) Burned() (grants int, units map[string]float64) {
	figures := f.pool.Figures(f.env.Clock.Now())
	units = maps.Clone(f.burnt)
	for _, b := range figures.Budgets {
		units[b.Name] += b.Burnt
	}
	return f.burns + figures.Burns, units
}

// Held is what each gateway holds of a limit, by the pool's books.
func (f *Fleet) Held(limit string) map[int]float64 {
	held := map[int]float64{}
	for _, i := range f.order() {
		held[i] = f.pool.Held(pool.Key{Holder: name(i), Incarnation: f.members[i].incarnation}, limit, f.env.Clock.Now())
	}
	return held
}
