// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/credentials"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/spool"
	"github.com/headgate-dev/headgate/internal/plan"
)

// Options configure a gateway.
type Options struct {
	// Dialect finds the parser of a dialect by the name a plan gives it.
	Dialect func(name string) (dialect.Dialect, bool)
	// Transport reaches the providers.
	Transport http.RoundTripper
	// Credentials holds the keys the gateway sends itself; nil holds none.
	Credentials *credentials.Store
	// Memory bounds the request bodies held at once.
	Memory *spool.Budget
	Log    *slog.Logger
	// Deferrals keeps the calls that policies defer; nil declines them.
	Deferrals Deferrals
	// Shared: further gateways serve the same policies, so that each spends what it is granted of every limit: see Draws. A
	// lone gateway has all of it.
	Shared bool
	// Incarnation numbers this start of the gateway among all of its pod's, and Fresh says that it is the first.
	Incarnation uint64
	Fresh       bool
	// Namespace and Labels are the pod's.
	Namespace string
	Labels    map[string]string
	// PingEvery is how long calls wait in silence whose lane keeps their clients' connections alive; 0 is plan.PingEvery.
	PingEvery time.Duration
	// Rand draws jitter, from 0 to below 1.
	Rand func() float64
}

// Gateway serves the routes of one plan.
type Gateway struct {
	opts      Options
	transport atomic.Pointer[roundTripper]
	table     atomic.Pointer[table]
	// rejectsUsage are the hosts that answered 400 to the injected stream options.
	rejectsUsage hosts
	ids          atomic.Uint64
	inFlight     atomic.Int64
	lastCall     atomic.Int64
	// away counts the calls that wait for others than the gateway.
	away atomic.Int64
	// drain is the gateway's end.
	drain drain
	// discards are the bodies that are taken for nobody.
	discards discards

	mu     sync.Mutex
	routes map[string]*route
	labels map[string]string
	plan   *plan.Plan
	// hastened holds an element when a draw has become due earlier.
	hastened chan struct{}
}

// roundTripper lets the transport be replaced with its CA bundle.
type roundTripper struct{ http.RoundTripper }

// New returns a gateway with the built-in routes alone.
func New(opts Options) *Gateway {
	if opts.Memory == nil {
		opts.Memory = spool.NewBudget(256 << 20)
	}
	if opts.Credentials == nil {
		opts.Credentials = credentials.New("")
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.PingEvery <= 0 {
		opts.PingEvery = plan.PingEvery
	}
	g := &Gateway{opts: opts, routes: map[string]*route{}, labels: opts.Labels, hastened: make(chan struct{}, 1), drain: newDrain()}
	g.ids.Store(rand.Uint64() >> 8)
	g.SetTransport(opts.Transport)
	g.Apply(&plan.Plan{Version: plan.Version, Namespace: opts.Namespace}, time.Now())
	return g
}

// SetTransport replaces the transport of calls to come.
func (g *Gateway) SetTransport(rt http.RoundTripper) {
	g.transport.Store(&roundTripper{rt})
}

// ServeHTTP serves one call.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, rest, bad := split(r)
	if bad != nil {
		g.noRoute(w, r, bad)
		return
	}
	if name == ownRoute && g.serveOwn(w, r) {
		return
	}
	t := g.table.Load()
	cfg, ok := t.routes[name]
	if !ok {
		g.noRoute(w, r, t.unknown(name))
		return
	}
	g.inFlight.Add(1)
	now := time.Now()
	g.lastCall.Store(now.UnixNano())
	c := newCall(g, cfg, w, r, rest, now)
	defer c.end() //nolint:contextcheck // the call holds its request
	c.serve()     //nolint:contextcheck // as above
}

// noRoute answers a call of no route, when all of it was sent.
func (g *Gateway) noRoute(w http.ResponseWriter, r *http.Request, p *problem) {
	g.discards.take(w, r, false, time.Now)
	writeProblem(w, p)
}

// nextID names a call in the log.
func (g *Gateway) nextID() uint64 { return g.ids.Add(1) }

// Busy reports how many calls there are and when the last one came, for draining.
func (g *Gateway) Busy() (calls int64, last time.Time) {
	return g.inFlight.Load(), time.Unix(0, g.lastCall.Load())
}

// hosts is a bounded set of hosts.
type hosts struct {
	mu  sync.RWMutex
	set map[string]struct{}
}

const maxHosts = 256

func (h *hosts) has(host string) bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	_, ok := h.set[host]
	return ok
}

func (h *hosts) add(host string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.set == nil {
		h.set = map[string]struct{}{}
	}
	if len(h.set) < maxHosts {
		h.set[host] = struct{}{}
	}
}
