// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/headgate-dev/headgate/internal/coordinator/drawing"
	"github.com/headgate-dev/headgate/internal/figures"
	"github.com/headgate-dev/headgate/internal/ledger"
)

// batch is how far apart turns are: draws gather meanwhile. In order of time alone the first to ask would take all, and
// thousands of gateways would have each grant worked out by itself. Draws that come after a rest gather for less: most of the
// time one gateway asks, and its call waits.
const (
	batch     = 10 * time.Millisecond
	afterRest = time.Millisecond
)

// budgets are the leader's pools and what moves them. What happens to the ledger is an order; one goroutine does them
// in turn, so that no stream ever waits for a decision, and no decision for a stream.
type budgets struct {
	opts Options
	log  *slog.Logger
	wake chan struct{}
	// ended closes when nothing is done any longer.
	ended chan struct{}

	mu     sync.Mutex
	orders []order
	counts drawCounts

	figures atomic.Pointer[ledger.Figures]

	// Of run alone:
	ledger *ledger.Ledger
	leads  bool
	epoch  uint64
	// streams are those that can be told something, by who they are in the ledger.
	streams map[address]*stream
	changed []ledger.Recipient
	publish publisher
	// looked is when the figures were taken.
	looked time.Time
}

// order is done by run.
type order func(ctx context.Context, now time.Time)

// address is a holder as the ledger names it.
type address struct{ namespace, holder string }

func newBudgets(opts Options) *budgets {
	b := &budgets{
		opts: opts, log: opts.Log, wake: make(chan struct{}, 1), ended: make(chan struct{}), ledger: ledger.New(opts.Ledger),
		streams: map[address]*stream{}, counts: newDrawCounts(),
	}
	b.figures.Store(&ledger.Figures{})
	return b
}

// do has an order done soon, after those before.
func (b *budgets) do(o order) {
	b.mu.Lock()
	b.orders = append(b.orders, o)
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// run does what is ordered and grants what is due, until ctx ends.
func (b *budgets) run(ctx context.Context) {
	var writes sync.WaitGroup
	defer close(b.ended)
	defer func() {
		writes.Wait()
		b.resign(ctx, time.Now())
	}()
	b.publish.group = &writes
	due := time.NewTimer(0)
	defer due.Stop()
	var turned time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.wake:
			if !gather(ctx, gathering(time.Since(turned))) {
				return
			}
		case <-due.C:
		}
		turned = time.Now()
		due.Reset(b.turn(ctx, turned))
	}
}

// gathering is for how long the draws after a rest are waited for.
func gathering(rested time.Duration) time.Duration { return min(max(batch-rested, afterRest), batch) }

// gather waits for further draws; false if ctx ended.
func gather(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// turn does all orders, grants and tells, and returns when the next one is due at the latest.
func (b *budgets) turn(ctx context.Context, now time.Time) time.Duration {
	b.mu.Lock()
	orders := b.orders
	b.orders = nil
	b.mu.Unlock()
	for _, o := range orders {
		o(ctx, now)
	}
	if !b.leads {
		return time.Hour
	}
	// An order may have waited for the API server.
	now = time.Now()
	if b.fenced(now) {
		return keepAlive
	}
	b.ledger.Advance(now)
	b.tell(now)
	b.publish.maybe(ctx, b, now)
	if now.Sub(b.looked) >= keepAlive {
		b.looked = now
		f := b.ledger.Figures(now)
		b.figures.Store(&f)
	}
	b.mu.Lock()
	b.counts.batches++
	b.counts.busy += time.Since(now)
	b.mu.Unlock()
	next, ok := b.ledger.Next(now)
	if wait := next.Sub(now); ok && wait < keepAlive {
		return max(wait, batch)
	}
	return keepAlive
}

// fenced says whether another replica may lead. The time of day is asked too: unlike the other clock it goes on while the
// machine is suspended.
func (b *budgets) fenced(now time.Time) bool {
	until := b.opts.Leadership.Until()
	if until.IsZero() {
		return false
	}
	b.ledger.Extend(until)
	return !now.Before(until) || !now.Round(0).Before(until.Round(0))
}

// tell puts what was granted where the streams fetch it. One that is slow finds only the newest there.
func (b *budgets) tell(now time.Time) {
	b.changed = b.ledger.Changed(b.changed[:0])
	for _, to := range b.changed {
		st := b.streams[address{to.Route.Namespace, to.Holder}]
		if st == nil || st.incarnation != to.Incarnation {
			continue
		}
		if g, ok := b.ledger.Grant(to, now); ok {
			key := routeKey{to.Route.Policy, to.Route.Provider}
			st.box.grant(key, drawing.Grant(key.policy, key.provider, &g))
			st.poke()
		}
	}
}

// lead begins a leadership with what the last one left behind.
func (b *budgets) lead(epoch uint64) order {
	return func(ctx context.Context, _ time.Time) {
		by := ledger.Leadership{Epoch: epoch, Before: b.opts.Leadership.Before(), First: b.opts.Leadership.First()}
		last, found, err := b.load(ctx)
		if err != nil {
			b.log.Warn("what the last leader granted is not known: all of it counts as outstanding for a while", "error", err)
		}
		by.Last, by.First = last, by.First && !found && err == nil
		clear(b.streams)
		b.leads, b.epoch = true, epoch
		b.publish.begin()
		b.ledger.Lead(by, time.Now())
	}
}

// follow ends it.
func (b *budgets) follow(context.Context, time.Time) {
	b.leads = false
	clear(b.streams)
	b.figures.Store(&ledger.Figures{})
}

// enter makes a stream the one by which its pod is told.
func (b *budgets) enter(st *stream) {
	b.do(func(context.Context, time.Time) { b.streams[addressOf(st.id.Pod)] = st })
}

// leave forgets a stream that has ended, unless another took its place.
func (b *budgets) leave(st *stream) {
	b.do(func(context.Context, time.Time) {
		if at := addressOf(st.id.Pod); b.streams[at] == st {
			delete(b.streams, at)
		}
	})
}

// addressOf is who a pod's gateway is in the ledger: the pod of the token, whatever messages say.
func addressOf(pod figures.Pod) address { return address{pod.Namespace, pod.Name + "/" + pod.UID} }
