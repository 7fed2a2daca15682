// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package deferred

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/deferred/callback"
	"github.com/headgate-dev/headgate/internal/gateway/deferred/store"
	"github.com/headgate-dev/headgate/internal/gateway/deferred/ticket"
	"github.com/headgate-dev/headgate/internal/gateway/proxy"
	"github.com/headgate-dev/headgate/internal/plan"
)

// Maker makes calls, and knows what today's policies say of them. A proxy.Gateway is one.
type Maker interface {
	Make(ctx context.Context, l *proxy.Later, o proxy.MakeOptions) proxy.Made
	Deferred(route string) *plan.Deferred
}

// Options configure a queue.
type Options struct {
	Store store.Store
	// Shared: the store outlives the pod, and other pods' gateways use it.
	Shared bool
	// Callbacks delivers answers; nil delivers none.
	Callbacks *callback.Client
	Log       *slog.Logger
	// Rand draws jitter, from 0 to below 1.
	Rand func() float64
}

// Queue is the deferred calls of one gateway. It is safe for concurrent use.
type Queue struct {
	opts  Options
	store store.Store
	// base is the store's time at start.
	base, start time.Time
	wake        chan struct{}
	work        sync.WaitGroup

	mu      sync.Mutex
	entries map[string]*entry
	routes  map[routeKey]*route
	bytes   int64
	making  int
	// inHand is what the requests being made hold in memory.
	inHand     int64
	delivering int
	draining   bool
	// unwanted were stored, or may have been, although their callers were told otherwise.
	unwanted []string
}

var _ proxy.Deferrals = (*Queue)(nil)

// entry is a ticket in the queue. Its ticket is replaced, never changed.
type entry struct {
	*ticket.Ticket

	// busy: someone is storing, making or delivering it, and nobody else may.
	busy bool
	// cancel ends the making; sent says that the call has left. gone: the ticket was cancelled meanwhile.
	cancel context.CancelFunc
	sent   bool
	gone   bool
}

type routeKey struct{ policy, route string }

// route is what is counted and bounded by route.
type route struct {
	waiting, done, dead int
	requests, answers   int64
	making              int
	paced               time.Time
	outcomes            map[string]uint64
}

// New returns a queue with what its store holds.
func New(ctx context.Context, o Options) (*Queue, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Rand == nil {
		o.Rand = rand.Float64
	}
	q := &Queue{
		opts: o, store: o.Store, start: time.Now(), wake: make(chan struct{}, 1),
		entries: map[string]*entry{}, routes: map[routeKey]*route{},
	}
	var err error
	if q.base, err = o.Store.Now(ctx); err != nil {
		return nil, fmt.Errorf("the time of the store of deferred calls: %w", err)
	}
	damaged, err := o.Store.Load(ctx, func(t *ticket.Ticket) { q.put(&entry{Ticket: t}) })
	if err != nil {
		return nil, fmt.Errorf("read the deferred calls: %w", err)
	}
	if damaged > 0 {
		o.Log.Error("deferred calls could not be read and are lost", slog.Int("calls", damaged))
	}
	if len(q.entries) > 0 {
		o.Log.Info("deferred calls found", slog.Int("calls", len(q.entries)))
	}
	return q, nil
}

// now is the store's time.
func (q *Queue) now() time.Time { return q.base.Add(time.Since(q.start)) }

// wall is a time of the store's on the machine's clock, to be shown.
func (q *Queue) wall(t time.Time) time.Time { return time.Now().Add(t.Sub(q.now())).UTC() }

func (q *Queue) put(e *entry) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.entries[e.ID] = e
	q.countLocked(e.Ticket, 1)
}

// countLocked adds a ticket to the counts, or with -1 takes it out; mu is held.
func (q *Queue) countLocked(t *ticket.Ticket, n int) {
	r := q.routeLocked(routeKey{t.Policy, t.Route})
	switch t.State {
	case ticket.Waiting:
		r.waiting += n
	case ticket.Done:
		r.done += n
	case ticket.Dead:
		r.dead += n
	}
	r.requests += int64(n) * t.Request.Bytes
	r.answers += int64(n) * t.Answer.Bytes
	q.bytes += int64(n) * (t.Request.Bytes + t.Answer.Bytes)
}

// maxRouteKeys bounds the routes that are counted apart; only many renamings make so many.
const maxRouteKeys = 512

func (q *Queue) routeLocked(key routeKey) *route {
	r := q.routes[key]
	if r == nil && len(q.routes) >= maxRouteKeys {
		key = routeKey{}
		r = q.routes[key]
	}
	if r == nil {
		r = &route{outcomes: map[string]uint64{}}
		q.routes[key] = r
	}
	return r
}

// replaceLocked puts a changed ticket in an entry's place; mu is held. One that was dropped meanwhile counts no more.
func (q *Queue) replaceLocked(e *entry, t *ticket.Ticket) {
	if q.entries[e.ID] != e {
		e.Ticket = t
		return
	}
	q.countLocked(e.Ticket, -1)
	e.Ticket = t
	q.countLocked(t, 1)
}

// dropLocked takes an entry out; mu is held.
func (q *Queue) dropLocked(e *entry) {
	if q.entries[e.ID] != e {
		return
	}
	delete(q.entries, e.ID)
	q.countLocked(e.Ticket, -1)
}

// stir has the dispatcher look again.
func (q *Queue) stir() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// free gives an entry back to the dispatcher.
func (q *Queue) free(e *entry) {
	q.mu.Lock()
	e.busy = false
	q.mu.Unlock()
	q.stir()
}

// timeout is a context for one operation of the store, which is finished also where its cause ends.
func timeout(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
}
