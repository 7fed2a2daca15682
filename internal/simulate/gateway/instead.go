// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/policy/decide"
	"github.com/headgate-dev/headgate/internal/simulate/world"
)

// elsewhere tries what else the policy provides for a call that cannot be made here in time.
func (j *job) elsewhere(reason string, wait time.Duration) bool {
	return j.from == nil && j.later == nil && (j.failOver(reason, wait) || j.putOff(reason))
}

// stated is a wait above the ceiling that the provider asked for: until when it stands, and of how large a call.
type stated struct {
	until time.Time
	size  float64
}

// passing are the refusals that waiting cures: while such a wait stands, they are due to it.
var passing = map[string]bool{
	string(budget.ReasonDeadline): true, string(budget.ReasonQueueExpired): true, string(budget.ReasonQueueFull): true,
}

// failOver makes a call whose wait is above the ceiling anew, on the route that the policy names.
func (j *job) failOver(reason string, wait time.Duration) bool {
	t, g := &j.g.route.plan.Throttle, j.g
	other := g.inst.gates[t.FailoverTo]
	if t.OnCeilingExceeded != plan.Failover || other == nil || g.route.plan.Observe {
		return false
	}
	switch now := g.now(); {
	case reason == string(decide.CeilingExceeded):
		g.ceilings[j.ticket.Account] = stated{now.Add(wait), j.size()}
	case !passing[reason] || wait <= g.settings.HonourCeiling || !g.ceilings[j.ticket.Account].until.After(now):
		return false
	}
	j.over()
	other.begin(&job{g: other, call: j.call, from: j}, j.deadline, -1)
	other.settled()
	return true
}

// size is what the call is expected to take.
func (j *job) size() float64 { return j.ticket.Estimate.Input + j.ticket.Estimate.Output }

// answered: a wait that was stated for a call no larger than one that passed is over.
func (j *job) answered() {
	if s, ok := j.g.ceilings[j.ticket.Account]; ok && s.size <= j.size() {
		delete(j.g.ceilings, j.ticket.Account)
	}
}

// cameBack takes what became of a call on another route: where that refused it, it is what the first one says.
func (j *job) cameBack(o world.Outcome) {
	if o.Kind == world.Declined {
		o.Reason = string(decide.CeilingExceeded)
	}
	j.g.w.End(j.call, o)
}

// makesRoom sends calls without callers out of the queue where they may be why this one is refused, as the proxy does.
func (j *job) makesRoom(reason budget.Reason) bool {
	g := j.g
	if j.later != nil || reason != budget.ReasonDeadline && reason != budget.ReasonQueueFull && reason != budget.ReasonLanePaused {
		return false
	}
	gone := false
	for _, other := range append([]*job(nil), g.deferred.inHand...) {
		if !other.queued {
			continue
		}
		gone, other.queued = true, false
		delete(g.queued, &other.ticket)
		g.adm.ReleaseAt(&other.ticket, admission.Settlement{Kind: admission.NotSent}, g.now())
		other.finish(world.Outcome{Kind: world.Declined, Reason: "GaveWay", RetryAfter: gaveWay})
	}
	return gone
}
