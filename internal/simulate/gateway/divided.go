// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"maps"
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/simulate/divide"
)

// shareTTL is how long a part stays valid without news; see wire.LeaseTTL.
const shareTTL = 10 * time.Second

// divided gives every gateway an equal part of each limit, as a coordinator would that knows no demand. A gateway that hears
// nothing keeps its part for as long as it lasts, and then takes the safe one.
type divided struct {
	env     Env
	route   plan.Route
	members map[int]*member
	cut     bool
	// cuts numbers the partitions, so that the end of an old one's time does nothing.
	cuts int
}

// member is one gateway.
type member struct {
	gate *admission.Gate
	now  func() time.Time
}

func newDivided(env Env) *divided {
	return &divided{env: env, route: env.Route, members: map[int]*member{}}
}

// Join implements Fleet.
func (d *divided) Join(gateway int, opts admission.Options) Admission {
	opts.Shared = true
	g := admission.New(opts, d.route, d.env.MaxGateways, opts.Clock())
	d.members[gateway] = &member{g, opts.Clock}
	d.share()
	return g
}

// Crash implements Fleet.
func (d *divided) Crash(gateway int) {
	delete(d.members, gateway)
	d.share()
}

// Leave implements Fleet.
func (d *divided) Leave(gateway int) { d.Crash(gateway) }

// Partition implements Fleet.
func (d *divided) Partition(cut bool) {
	d.cut = cut
	d.cuts++
	if !cut {
		d.share()
		return
	}
	mine := d.cuts
	d.env.Clock.After(shareTTL, func() {
		if d.cuts != mine {
			return
		}
		for _, i := range slices.Sorted(maps.Keys(d.members)) {
			d.members[i].gate.SetShares(nil, d.members[i].now())
			d.env.Wake(i)
		}
	})
}

// Configure implements Fleet.
func (d *divided) Configure(route plan.Route) {
	d.route = route
	for _, i := range slices.Sorted(maps.Keys(d.members)) {
		d.members[i].gate.Configure(route, d.env.MaxGateways, d.members[i].now())
	}
	d.share()
}

// Burned implements Fleet: parts are rates, and nothing is held.
func (d *divided) Burned() (grants int, units map[string]float64) { return 0, nil }

// share tells every gateway its part, after the time a message takes.
func (d *divided) share() {
	if d.cut {
		return
	}
	order := slices.Sorted(maps.Keys(d.members))
	for index, i := range order {
		m, shares := d.members[i], map[string]admission.Share{}
		for _, l := range d.route.Limits {
			part := divide.Of(l, divide.Rate(l), len(order), index, divide.Largest(l, d.route.Lanes, 0))
			shares[l.Name] = admission.Share{RatePerSecond: part.RatePerSecond, Capacity: part.Capacity}
		}
		d.env.Clock.After(d.env.Gateways.Latency, func() {
			if d.members[i] != m || d.cut {
				return
			}
			m.gate.SetShares(shares, m.now())
			d.env.Wake(i)
		})
	}
}
