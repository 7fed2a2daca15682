// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"time"

	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/sharing"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/wire"
)

// gate is what the calls of a route go through: an admission.Gate, which has all of its limits, or a sharing.Member, which has
// what it is granted.
type gate interface {
	Estimator() *admission.Estimator
	Enter(t *admission.Ticket, now time.Time) admission.Verdict
	Retry(t *admission.Ticket, notBefore, now time.Time) admission.Verdict
	Wait(ctx context.Context, t *admission.Ticket) (admission.Verdict, error)
	Release(t *admission.Ticket, s admission.Settlement)
	Charge(t *admission.Ticket, output float64, now time.Time)
	Observe(t *admission.Ticket, r *dialect.Reading, now time.Time)
	Refused(t *admission.Ticket, r *dialect.Reading, named string, wait time.Duration, ok bool, now time.Time)
	Succeeded(t *admission.Ticket)
	Floor(t *admission.Ticket, r *dialect.Reading) (time.Duration, bool)
	Configure(route plan.Route, maxGateways int32, now time.Time)
	Figures(now time.Time) admission.Figures
	Close()
}

var (
	_ gate = (*admission.Gate)(nil)
	_ gate = (*sharing.Member)(nil)
)

// Draw is what one route says to whoever keeps what it shares.
type Draw struct {
	Policy, Provider string
	Report           pool.Report
}

// batch is for how much longer a draw waits to go with others.
const batch = 20 * time.Millisecond

// waitingBytes bounds the bodies of the calls that wait on a route.
func (g *Gateway) waitingBytes() int64 { return g.opts.Memory.Total() / 4 * 3 }

func (g *Gateway) memberOf(cfg *config, maxGateways int32, now time.Time) *sharing.Member {
	return sharing.New(sharing.Options{
		Facts: cfg.facts, MaxBytes: g.waitingBytes(), Incarnation: g.opts.Incarnation, Fresh: g.opts.Fresh, Hastened: g.hasten,
	}, cfg.plan, maxGateways, now)
}

// sharing are the routes that draw.
func (g *Gateway) sharing() []*config {
	var out []*config
	for _, cfg := range g.configs() {
		if cfg.member != nil && len(cfg.plan.Limits) > 0 && len(out) < wire.MaxRoutes {
			out = append(out, cfg)
		}
	}
	return out
}

// Draws are those that are due by now or a moment later, or of all routes: after a connection was lost, what was said on it
// may be too.
func (g *Gateway) Draws(all bool, now time.Time) []Draw {
	var out []Draw
	for _, cfg := range g.sharing() {
		if all || !cfg.member.Due(now).After(now.Add(batch)) {
			out = append(out, Draw{cfg.policy, cfg.plan.Name, cfg.member.Draw(now)})
		}
	}
	return out
}

// NextDraw is when Draws is due; false if no route draws.
func (g *Gateway) NextDraw(now time.Time) (at time.Time, ok bool) {
	for _, cfg := range g.sharing() {
		if due := cfg.member.Due(now); !ok || due.Before(at) {
			at, ok = due, true
		}
	}
	return at, ok
}

// Hastened is signalled when NextDraw has become earlier.
func (g *Gateway) Hastened() <-chan struct{} { return g.hastened }

func (g *Gateway) hasten() {
	select {
	case g.hastened <- struct{}{}:
	default:
	}
}

// Receive brings a route what it was granted. What is for none is ignored.
func (g *Gateway) Receive(policy, provider string, grant *pool.Grant, now time.Time) {
	g.mu.Lock()
	r := g.routes[policy+"/"+provider]
	g.mu.Unlock()
	if r != nil && r.member != nil {
		r.member.Receive(grant, now)
	}
}

// Drain ends what is shared: nothing more goes, and the last draws give everything back.
func (g *Gateway) Drain(now time.Time) []Draw {
	var out []Draw
	for _, cfg := range g.sharing() {
		out = append(out, Draw{cfg.policy, cfg.plan.Name, cfg.member.Drain(now)})
	}
	return out
}
