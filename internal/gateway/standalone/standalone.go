// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package standalone

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/budgetstore"
	"github.com/headgate-dev/headgate/internal/budgetstore/loop"
	"github.com/headgate-dev/headgate/internal/gateway/proxy"
	"github.com/headgate-dev/headgate/internal/ledger"
	"github.com/headgate-dev/headgate/internal/plan"
)

// Gateway is what draws.
type Gateway interface {
	// Draws are those that are due, or all; NextDraw is when that is so next, Hastened is signalled when it is earlier.
	Draws(all bool, now time.Time) []proxy.Draw
	NextDraw(now time.Time) (time.Time, bool)
	Hastened() <-chan struct{}
	Receive(policy, provider string, grant *pool.Grant, now time.Time)
	// Drain ends what is shared: the draws give everything back.
	Drain(now time.Time) []proxy.Draw
}

// Options say what is brought together.
type Options struct {
	Gateway Gateway
	// Plan is what the gateway has in force; nil before the first one.
	Plan  func() *plan.Plan
	Store budgetstore.Store
	// Name is the gateway's among those that use the store, the same over restarts.
	Name string
	Log  *slog.Logger
}

// Runner brings a gateway's draws to its ledger, and grants back. It is safe for concurrent use.
type Runner struct {
	opts Options
	loop *loop.Loop

	mu      sync.Mutex
	ledger  *ledger.Ledger
	current *plan.Plan
	changed []ledger.Recipient
}

// holder is the gateway's name in its ledger: it is the only one.
const holder = "gateway"

// longest is how long nothing is looked at, at the most: plans change.
const longest = 250 * time.Millisecond

// New makes a runner that does not run yet.
func New(o Options) *Runner {
	now := time.Now()
	r := &Runner{opts: o, ledger: ledger.New(ledger.Options{External: true})}
	r.ledger.Lead(ledger.Leadership{Epoch: uint64(max(now.UnixMilli(), 1)), First: true}, now)
	r.loop = loop.New(loop.Options{Store: o.Store, Owner: r, Name: o.Name, Log: o.Log})
	return r
}

// Loop draws on the store: it has the metrics, and says whether the store is lost.
func (r *Runner) Loop() *loop.Loop { return r.loop }

// With implements loop.Owner.
func (r *Runner) With(_ context.Context, do func(l *ledger.Ledger, term uint64, now time.Time)) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	do(r.ledger, 1, now)
	r.grant(now)
	return true
}

// Run runs until ctx ends; then it gives everything back, for which it takes the time of one call at most.
func (r *Runner) Run(ctx context.Context) {
	var drawing sync.WaitGroup
	drawing.Go(func() { r.loop.Run(ctx) })
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-r.opts.Gateway.Hastened():
		case <-timer.C:
		}
		timer.Reset(r.exchange(false, time.Now()))
	}
	drawing.Wait()
	r.leave(context.WithoutCancel(ctx))
}

// exchange brings the draws that are due to the ledger and what was granted back, and returns when to do so again.
func (r *Runner) exchange(all bool, now time.Time) time.Duration {
	r.mu.Lock()
	r.follow(now)
	draws := r.opts.Gateway.Draws(all, now)
	r.report(draws, now)
	r.grant(now)
	next := longest
	for _, at := range []func(time.Time) (time.Time, bool){r.opts.Gateway.NextDraw, r.ledger.Next} {
		if due, ok := at(now); ok {
			next = min(next, due.Sub(now))
		}
	}
	r.mu.Unlock()
	if len(draws) > 0 {
		r.loop.Poke()
	}
	return max(next, time.Millisecond)
}

// follow takes over the plan in force.
func (r *Runner) follow(now time.Time) {
	p := r.opts.Plan()
	if p == nil || p == r.current {
		return
	}
	r.current = p
	r.ledger.SetAccounts(accounts(p), now)
	r.ledger.SetPlan(p.Namespace, p, now)
	for i := range p.Policies {
		for j := range p.Policies[i].Routes {
			r.ledger.Expect(ledger.Route{Namespace: p.Namespace, Policy: p.Policies[i].Name, Provider: p.Policies[i].Routes[j].Name}, holder, now)
		}
	}
}

func (r *Runner) report(draws []proxy.Draw, now time.Time) {
	if r.current == nil {
		return
	}
	for i := range draws {
		d := &draws[i]
		d.Report.Holder = holder
		route := ledger.Route{Namespace: r.current.Namespace, Policy: d.Policy, Provider: d.Provider}
		if err := r.ledger.Report(route, &d.Report, now); err != nil && r.opts.Log != nil {
			r.opts.Log.Debug("a draw was not taken in", "policy", d.Policy, "provider", d.Provider, "error", err)
		}
	}
}

// grant grants what can be granted.
func (r *Runner) grant(now time.Time) {
	r.ledger.Advance(now)
	if r.ledger.Stale() {
		// No other leader comes that would have to know what is granted: the gateway's end is its ledger's.
		r.ledger.Published(r.ledger.State(now))
		r.ledger.Advance(now)
	}
	r.changed = r.ledger.Changed(r.changed[:0])
	for _, to := range r.changed {
		if g, ok := r.ledger.Grant(to, now); ok {
			g.Holder = ""
			r.opts.Gateway.Receive(to.Route.Policy, to.Route.Provider, &g, now)
		}
	}
}

// leave gives back what is left.
func (r *Runner) leave(ctx context.Context) {
	r.mu.Lock()
	now := time.Now()
	r.report(r.opts.Gateway.Drain(now), now)
	r.mu.Unlock()
	r.loop.Leave(ctx)
}
