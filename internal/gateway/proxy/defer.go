// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/policy/decide"
)

const (
	// ownRoute is the first path element of what the gateway itself serves beside the routes; no route has it.
	ownRoute = "_headgate"
	// HeaderCallback is where a caller wants the answer delivered, should its call be deferred.
	HeaderCallback = "Headgate-Callback"

	outcomeDeferred = "deferred" // taken in, to be made later
	// ReasonDeferredFull replaces the reason of a refusal where the call would have been deferred, had there been room.
	ReasonDeferredFull = "DeferredFull"
)

// ErrDeferredFull says that there is no room for another deferred call.
var ErrDeferredFull = errors.New("no room for another deferred call")

// Deferrals keeps calls that cannot be made in time, and has them made later without their callers.
type Deferrals interface {
	// CheckCallback refuses a URL that no answer may be delivered to.
	CheckCallback(url string, hosts []string) error
	// Take keeps a call. Only where it returns without an error the call is kept for good.
	Take(ctx context.Context, call *Later, bounds *plan.Deferred) (*Promise, error)
	// Counts are a route's deferred calls.
	Counts(policy, route string) DeferredCounts
	// Handler serves tickets below /_headgate/.
	http.Handler
}

// Promise is what a caller is told whose call was kept.
type Promise struct {
	Location   string
	RetryAfter time.Duration
	Body       []byte
}

// DeferredCounts are a route's deferred calls by state, and what became of those that are no more.
type DeferredCounts struct {
	Waiting, Done, DeadLetters uint64
	// Outcomes count since the gateway's start; the names are a closed set.
	Outcomes map[string]uint64
}

// deferredOf are a route's deferred calls.
func (g *Gateway) deferredOf(cfg *config) DeferredCounts {
	if g.opts.Deferrals == nil {
		return DeferredCounts{}
	}
	return g.opts.Deferrals.Counts(cfg.policy, cfg.plan.Name)
}

// takesCallback looks at the callback of a call that may be deferred, before anything is spent on it: who names a
// wrong one learns it at the first call, not at the first that is deferred. False says that the call was answered.
func (c *call) takesCallback() bool {
	values := c.r.Header[HeaderCallback]
	d := c.g.opts.Deferrals
	if len(values) == 0 || d == nil || c.cfg.plan.Deferred == nil || c.cfg.plan.Observe || c.later != nil {
		return true
	}
	if err := d.CheckCallback(values[0], c.cfg.plan.Deferred.CallbackHosts); err != nil {
		c.outcome = outcomeFailed
		p := problem{http.StatusBadRequest, "headgate_bad_callback", "headgate: " + HeaderCallback + ": " + err.Error()}
		c.discard()
		c.status = p.status
		writeProblem(c.w, &p)
		return false
	}
	// It is ours and leaves the headers before the first send.
	c.callback = values[0]
	return true
}

// putOff keeps a call for later that cannot be made in time, and says whether the call has its answer by that.
func (c *call) putOff(reason string, wait time.Duration) bool {
	d := c.g.opts.Deferrals
	if d == nil || !c.defers(reason) || !c.canWaitAlone() {
		return false
	}
	query, ok := storableQuery(c.r.URL.RawQuery)
	header, fits := storableHeaders(c.r.Header)
	if !ok || !fits || len(c.rest) > maxStoredPath || !utf8.ValidString(c.rest) {
		return false
	}
	p, err := d.Take(c.r.Context(), &Later{
		Policy: c.cfg.policy, Route: c.cfg.plan.Name, Lane: c.cfg.plan.Lanes[c.rule].Name, Path: c.rest, Query: query,
		Header: header, Body: c.body.Bytes, Callback: c.callback, Sends: c.sends, Wait: wait,
	}, c.cfg.plan.Deferred)
	if err != nil {
		c.full = errors.Is(err, ErrDeferredFull)
		return false
	}
	c.promise(p, reason)
	return true
}

// defers says whether the policy defers a call that is refused for reason.
func (c *call) defers(reason string) bool {
	switch reason {
	case string(budget.ReasonDeadline), string(budget.ReasonQueueExpired), reasonDraining:
		return c.cfg.plan.Deadline.OnExceeded == plan.Defer
	case string(decide.CeilingExceeded):
		return c.cfg.plan.Throttle.OnCeilingExceeded == plan.Defer
	}
	return false
}

// canWaitAlone says whether the call can be made without its caller at all: it is held whole, is one that is made for
// its answer alone, and is sent with a key of the gateway's own, since a caller's key is never kept.
func (c *call) canWaitAlone() bool {
	return c.cfg.plan.Deferred != nil && !c.cfg.plan.Observe && c.key != "" && c.later == nil && !c.begun &&
		c.r.Method == http.MethodPost && c.body.Replayable() && c.r.Context().Err() == nil
}

// promise tells the caller where its answer will be.
func (c *call) promise(p *Promise, reason string) {
	h := c.w.Header()
	h.Set("Location", p.Location)
	h.Set("Retry-After", strconv.FormatInt(wholeSeconds(p.RetryAfter), 10))
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(p.Body)))
	h.Set("Cache-Control", "no-store")
	h.Set(HeaderReason, reason)
	c.w.WriteHeader(http.StatusAccepted)
	_, _ = c.w.Write(p.Body)
	c.status, c.begun = http.StatusAccepted, true
	c.outcome, c.reason = outcomeDeferred, reason
}

// spokenReason is the reason told to a client whose call was refused for reason.
func (c *call) spokenReason(reason string) string {
	if c.full {
		return ReasonDeferredFull
	}
	return reason
}

// serveOwn serves what is the gateway's own; false if it has nothing.
func (g *Gateway) serveOwn(w http.ResponseWriter, r *http.Request) bool {
	if g.opts.Deferrals == nil {
		return false
	}
	g.inFlight.Add(1)
	defer g.inFlight.Add(-1)
	g.lastCall.Store(time.Now().UnixNano())
	g.opts.Deferrals.ServeHTTP(w, r)
	return true
}
