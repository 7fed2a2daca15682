// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"time"

	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/registry"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/policy/decide"
	"github.com/headgate-dev/headgate/internal/simulate/clock"
	"github.com/headgate-dev/headgate/internal/simulate/world"
)

const (
	// defaultPatience is the deadline where neither a policy nor the call states one, as in the proxy.
	defaultPatience = time.Minute
	// callWeight weighs a new sample of the time an attempt needs, as in the proxy.
	callWeight = 0.1
	// least is how far the clock must move on for a gate to be asked again that had nothing to do when it said so.
	least = time.Microsecond
)

// gate is one gateway's part of a route.
type gate struct {
	c     *Client
	w     *world.World
	inst  *instance
	route *route
	adm   Admission

	dialect  dialect.Dialect
	facts    facts.Facts
	settings decide.Settings
	retries  decide.Budget
	attempt  time.Duration

	// queued finds the call of a ticket that waits; told are those that were decided and not yet heard of it.
	queued map[*admission.Ticket]*job
	told   []decided
	// due is when the gate is to be advanced next; later wake-ups that were asked for before count for nothing.
	due      time.Time
	wakeups  uint64
	deferred deferred
	// ceilings are the waits above the policy's ceiling that the provider stated.
	ceilings map[admission.Account]stated
	// breakers are those of overloaded models.
	breakers map[string]*decide.Breaker
}

// decided is a ticket that waited, with its verdict.
type decided struct {
	ticket  *admission.Ticket
	verdict admission.Verdict
}

func newGate(c *Client, inst *instance, r *route) *gate {
	g := &gate{
		c: c, w: c.w, inst: inst, route: r, dialect: registry.ByName(r.plan.Dialect), facts: c.w.Facts(r.plan.Name),
		settings: settings(&r.plan), queued: map[*admission.Ticket]*job{},
		ceilings: map[admission.Account]stated{}, breakers: map[string]*decide.Breaker{},
	}
	opts := admission.Options{
		Facts: g.facts, Clock: g.now,
		Decided: func(t *admission.Ticket, v admission.Verdict) { g.told = append(g.told, decided{t, v}) },
	}
	if r.fleet != nil {
		g.adm = r.fleet.Join(inst.index, opts)
	} else {
		edited := r.plan
		edited.Limits = append([]plan.Limit(nil), r.plan.Limits...)
		lone := admission.New(opts, edited, c.policy.MaxGateways, g.now())
		if first := g.w.Now().Equal(clock.Start); first {
			lone.StartAt(g.w.Workload().InitialLevel, g.now())
		}
		g.adm = lone
	}
	return g
}

// now is the time by the gateway's own clock.
func (g *gate) now() time.Time { return local(g.w.Now(), g.inst.drift) }

// settled hears what the gate decided meanwhile, and has it woken when it says so. It follows every use of the gate.
func (g *gate) settled() {
	for len(g.told) > 0 && !g.inst.dead {
		d := g.told[0]
		g.told = g.told[1:]
		if j := g.queued[d.ticket]; j != nil {
			delete(g.queued, d.ticket)
			j.queued = false
			j.decided(d.verdict)
		}
	}
	if g.inst.dead {
		return
	}
	next, ok := g.adm.Next(g.now())
	if !ok {
		g.due = time.Time{}
		g.wakeups++
		return
	}
	at := truly(next, g.inst.drift)
	if !at.After(g.w.Now()) {
		at = g.w.Now().Add(least)
	}
	if at.Equal(g.due) {
		return
	}
	g.due = at
	g.wakeups++
	mine := g.wakeups
	g.w.Clock().At(at, func() {
		if g.wakeups == mine {
			g.due = time.Time{}
			g.wake()
		}
	})
}

// wake lets the gate decide what is due.
func (g *gate) wake() {
	if g.inst.dead {
		return
	}
	g.adm.Advance(g.now())
	g.settled()
}

// took learns how long an attempt that is served needs until its response begins, as in the proxy.
func (g *gate) took(d time.Duration) {
	if g.attempt == 0 {
		g.attempt = d
		return
	}
	g.attempt += time.Duration(callWeight * float64(d-g.attempt))
}

// attemptTime is what an attempt is expected to need, at most a quarter of patience, as in the proxy.
func (g *gate) attemptTime(patience time.Duration) time.Duration { return min(g.attempt, patience/4) }

// patience is the shorter of what the policy and the call say.
func (g *gate) patience(c *world.Call) time.Duration {
	d := defaultPatience
	if stated := g.route.plan.Deadline.DefaultMillis; stated > 0 {
		d = millis(stated)
	}
	if c.Patience > 0 {
		d = min(d, c.Patience)
	}
	return d
}

// settings are a route's retry rules, as in the proxy.
func settings(r *plan.Route) decide.Settings {
	return decide.Settings{
		HonourCeiling: millis(r.Throttle.HonourCeilingMillis), JitterPercent: int(r.Throttle.JitterPercent),
		MaxAttempts: int(r.Throttle.MaxAttempts),
		Unguided: decide.Backoff{
			Base: millis(r.Unguided.BaseMillis), Cap: millis(r.Unguided.CapMillis), Equal: r.Unguided.Equal,
		},
		Overload:            decide.Backoff{Base: millis(r.Overload.BaseMillis), Cap: millis(r.Overload.CapMillis)},
		OverloadMaxAttempts: int(r.Overload.MaxAttempts),
	}
}

func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
