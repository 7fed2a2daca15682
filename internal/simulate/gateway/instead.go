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

const (
	// atOnce is how many calls without callers a gate has in hand at a time.
	atOnce = 4
	// gaveWay is how long one that made room for a call with a caller stays away.
	gaveWay = time.Second
	// alone is how long one waits in the gate's queue for each of its attempts.
	alone = time.Minute
)

// kept is a call that was taken in, to be made without its caller.
type kept struct {
	call     *world.Call
	lane     int
	since    time.Time
	attempts int
}

// deferred are a gate's calls without callers: those that are due to be tried, and those in hand.
type deferred struct {
	due   []*kept
	count int
	// inHand are being made; in the gate's queue they give way.
	inHand []*job
}

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

// putOff keeps a call for later.
func (j *job) putOff(reason string) bool {
	g := j.g
	r := &g.route.plan
	switch reason {
	case string(budget.ReasonDeadline), string(budget.ReasonQueueExpired):
		if r.Deadline.OnExceeded != plan.Defer {
			return false
		}
	case string(decide.CeilingExceeded):
		if r.Throttle.OnCeilingExceeded != plan.Defer {
			return false
		}
	default:
		return false
	}
	d := &g.deferred
	if r.Deferred == nil || d.count >= int(r.Deferred.MaxCalls) {
		return false
	}
	d.count++
	d.due = append(d.due, &kept{call: j.call, lane: j.ticket.Lane, since: g.w.Now(), attempts: j.sends})
	j.over()
	g.w.End(j.call, world.Outcome{Kind: world.Deferred, Reason: reason})
	g.w.After(0, g.makeDeferred)
	return true
}

// makeDeferred tries calls without callers, a few at a time and in their order.
func (g *gate) makeDeferred() {
	d := &g.deferred
	for len(d.inHand) < atOnce && len(d.due) > 0 && !g.inst.dead {
		k := d.due[0]
		d.due = d.due[1:]
		j := &job{g: g, call: k.call, later: k}
		d.inHand = append(d.inHand, j)
		g.begin(j, g.now().Add(alone), k.lane)
	}
	if !g.inst.dead {
		g.settled()
	}
}

// made takes what became of one attempt at a call without a caller.
func (j *job) made(o world.Outcome) {
	g, k := j.g, j.later
	d := &g.deferred
	d.remove(j)
	k.attempts += j.sends
	bounds := g.route.plan.Deferred
	old := g.w.Now().Sub(k.since) >= time.Duration(bounds.MaxAgeSeconds)*time.Second
	if o.Kind == world.Succeeded || k.attempts >= int(bounds.MaxAttempts) || old {
		d.count--
		g.w.End(k.call, o)
		g.w.After(0, g.makeDeferred)
		return
	}
	g.c.later(g, k, max(o.RetryAfter, gaveWay))
	g.w.After(0, g.makeDeferred)
}

func (d *deferred) remove(j *job) {
	for i, other := range d.inHand {
		if other == j {
			d.inHand = append(d.inHand[:i], d.inHand[i+1:]...)
			return
		}
	}
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

// later has a call without a caller come again, at whichever incarnation of the gateway there is then.
func (c *Client) later(g *gate, k *kept, wait time.Duration) {
	index, name := g.inst.index, g.route.plan.Name
	c.w.After(wait, func() {
		again := c.instances[index].gates[name]
		again.deferred.due = append(again.deferred.due, k)
		again.makeDeferred()
	})
}

// inherit takes over what the store of an incarnation that is gone has of calls without callers.
func (g *gate) inherit(from *gate) {
	d := &g.deferred
	d.count = from.deferred.count
	for _, j := range from.deferred.inHand {
		j.later.attempts += j.sends
		d.due = append(d.due, j.later)
	}
	d.due = append(d.due, from.deferred.due...)
	if len(d.due) > 0 {
		g.w.After(0, g.makeDeferred)
	}
}
