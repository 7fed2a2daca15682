// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/ledger"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/simulate/gateway"
)

const (
	// interval is how often gateways report.
	interval = time.Second
	// batch is how long the leader gathers reports before it grants.
	batch = 10 * time.Millisecond
)

// Fleet is the gateways of one route with the ledger of their leader.
type Fleet struct {
	env     gateway.Env
	route   plan.Route
	ledger  *ledger.Ledger
	epoch   uint64
	members map[int]*member
	// known are the gateways that there were before: their next incarnation is not their first.
	known map[int]bool
	// incarnations numbers them.
	incarnations uint64
	cut          bool
	// due is when the ledger is looked at next.
	due   time.Time
	looks uint64
	burnt map[string]float64
	burns int
}

var _ gateway.Fleet = (*Fleet)(nil)

// New makes a fleet; it is a gateway.FleetMaker.
func New(env gateway.Env) gateway.Fleet { return NewFleet(env) }

// NewFleet makes a fleet whose leader can be changed.
func NewFleet(env gateway.Env) *Fleet {
	f := &Fleet{env: env, route: env.Route, members: map[int]*member{}, known: map[int]bool{}, burnt: map[string]float64{}}
	f.lead(ledger.State{})
	return f
}

// namespace and policyName are what the route's are called here, where there is one of each.
const namespace, policyName = "default", "simulated"

func (f *Fleet) id() ledger.Route {
	return ledger.Route{Namespace: namespace, Policy: policyName, Provider: f.route.Name}
}

// plan has the ledger share what the route has. The limits of an account are those that the plan says: here nobody else has
// a part of them.
func (f *Fleet) plan() {
	now := f.env.Clock.Now()
	f.ledger.SetAccounts(f.accounts(), now)
	f.ledger.SetPlan(namespace, &plan.Plan{Policies: []plan.Policy{
		{Name: policyName, MaxGateways: f.env.MaxGateways, Routes: []plan.Route{f.route}},
	}}, now)
	for _, i := range f.order() {
		f.ledger.Expect(f.id(), name(i), now)
	}
}

func (f *Fleet) accounts() []ledger.Account {
	if f.route.Account == "" {
		return nil
	}
	a := ledger.Account{Name: f.route.Account, MaxGateways: f.env.MaxGateways, Outage: f.route.Outage}
	for _, l := range f.route.Limits {
		if l.Account == a.Name {
			l.Name = strings.TrimPrefix(l.Name, a.Name+":")
			a.Limits = append(a.Limits, l)
			if l.MaxGateways > 0 {
				a.MaxGateways = l.MaxGateways
			}
		}
	}
	return []ledger.Account{a}
}

func name(gateway int) string { return fmt.Sprint("gateway-", gateway) }

// lead starts a leader.
func (f *Fleet) lead(last ledger.State) {
	f.epoch++
	now := f.env.Clock.Now()
	f.ledger = ledger.New(ledger.Options{Interval: interval})
	f.plan()
	f.ledger.Lead(ledger.Leadership{Epoch: f.epoch, First: f.epoch == 1, Last: last}, now)
	f.ledger.Published(f.ledger.State(now))
}

// Follow ends the leader; another begins with what it published.
func (f *Fleet) Follow() {
	now := f.env.Clock.Now()
	last := f.ledger.State(now)
	f.ledger.Extend(now)
	f.gather()
	f.lead(last)
}

// gather adds up what burnt at a leader that ends.
func (f *Fleet) gather() {
	burns, units := f.ledger.Burnt(f.id(), f.env.Clock.Now())
	f.burns += burns
	for limit, burnt := range units {
		f.burnt[limit] += burnt
	}
}

func (f *Fleet) order() []int { return slices.Sorted(maps.Keys(f.members)) }

// Join implements gateway.Fleet.
func (f *Fleet) Join(i int, opts admission.Options) gateway.Admission {
	f.incarnations++
	m := newMember(f, i, opts, !f.known[i])
	f.known[i] = true
	f.members[i] = m
	f.ledger.Expect(f.id(), name(i), f.env.Clock.Now())
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
			f.ledger.Forget(f.id(), name(i), f.env.Clock.Now())
		}
	})
}

// Partition implements gateway.Fleet.
func (f *Fleet) Partition(cut bool) { f.cut = cut }

// Configure implements gateway.Fleet.
func (f *Fleet) Configure(route plan.Route) {
	f.route = route
	f.plan()
	f.look(f.env.Clock.Now())
	for _, i := range f.order() {
		m := f.members[i]
		m.Configure(route, f.env.MaxGateways, m.now())
		m.schedule()
		f.env.Wake(i)
	}
}

// Burned implements gateway.Fleet.
func (f *Fleet) Burned() (grants int, units map[string]float64) {
	grants, units = f.ledger.Burnt(f.id(), f.env.Clock.Now())
	for limit, burnt := range f.burnt {
		units[limit] += burnt
	}
	return f.burns + grants, units
}

// Held is what each gateway holds of a limit, by the ledger's books.
func (f *Fleet) Held(limit string) map[int]float64 {
	held := map[int]float64{}
	for _, i := range f.order() {
		of := ledger.Recipient{Route: f.id(), Holder: name(i), Incarnation: f.members[i].incarnation}
		held[i] = f.ledger.Held(of, limit, f.env.Clock.Now())
	}
	return held
}
