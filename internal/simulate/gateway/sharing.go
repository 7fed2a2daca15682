// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"time"

	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/simulate/clock"
	"github.com/headgate-dev/headgate/internal/simulate/workload"
)

// Admission decides when the calls of one route of one gateway go. A lone gateway's is admission.Gate; one of several
// that share an account is a Fleet's. The times it is given are the gateway's own clock's.
type Admission interface {
	Estimator() *admission.Estimator
	// Enter and Retry ask for a send. A ticket that is queued is decided later, and told to Options.Decided.
	Enter(t *admission.Ticket, now time.Time) admission.Verdict
	Retry(t *admission.Ticket, notBefore, now time.Time) admission.Verdict
	// ReleaseAt ends a ticket's send or takes it out of the queue.
	ReleaseAt(t *admission.Ticket, s admission.Settlement, now time.Time)
	Charge(t *admission.Ticket, output float64, now time.Time)

	// What the provider says.
	Observe(t *admission.Ticket, r *dialect.Reading, now time.Time)
	Refused(t *admission.Ticket, r *dialect.Reading, named string, wait time.Duration, ok bool, now time.Time)
	Succeeded(t *admission.Ticket)
	Floor(t *admission.Ticket, r *dialect.Reading) (time.Duration, bool)

	// Advance decides what is due, Next says when that is; see admission.Gate.
	Advance(now time.Time)
	Next(now time.Time) (time.Time, bool)
	Configure(route plan.Route, maxGateways int32, now time.Time)
	Figures(now time.Time) admission.Figures
}

var _ Admission = (*admission.Gate)(nil)

// Fleet shares the limits of one route among gateways: pool and holders with the messages between them, or fixed parts.
// It lives on the simulation's true clock; a gateway's own may run differently.
type Fleet interface {
	// Join starts an incarnation of a gateway, which knows nothing. It replaces an earlier one of that number, whose
	// crash is told before. opts are those of a gate: Decided is told of queued tickets, never within a call of Enter,
	// Retry or ReleaseAt for that same ticket.
	Join(gateway int, opts admission.Options) Admission
	// Crash ends a gateway's incarnation: nothing is heard of it any more, and its Admission is not called again.
	Crash(gateway int)
	// Leave ends one in good order (a scale down): it reports what it has left.
	Leave(gateway int)
	// Partition cuts all gateways off from the coordinator, or ends that.
	Partition(cut bool)
	// Configure puts an edited route in force, at the coordinator first.
	Configure(route plan.Route)
	// Burned is how many incarnations ended, or fell silent, holding what then counted as spent, and how much of which
	// limit.
	Burned() (grants int, units map[string]float64)
}

// Env is what a fleet is made of.
type Env struct {
	Clock *clock.Clock
	// Chance draws from [0, 1): jitter.
	Chance func() float64
	// Gateways says how messages travel. There may be other numbers of gateways later.
	Gateways    workload.Gateways
	Facts       facts.Facts
	Route       plan.Route
	MaxGateways int32
	// Wake is to be called when a gateway's Admission may have decided something or has an earlier Next, outside its own
	// methods: a grant has come.
	Wake func(gateway int)
}

// FleetMaker makes the fleet of one route.
type FleetMaker func(env Env) Fleet
