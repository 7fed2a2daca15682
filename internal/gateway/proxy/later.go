// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/tally"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/policy/decide"
)

// Later is a call that is made without its caller. It holds no credential.
type Later struct {
	Policy, Route, Lane string
	// Path is the escaped path below the route.
	Path, Query string
	Header      http.Header
	Body        []byte
	Callback    string
	// Sends counts the attempts made while its caller was there, and Wait is when another one makes sense.
	Sends int
	Wait  time.Duration
}

// Made is what came of making such a call once.
type Made struct {
	Status int
	Header http.Header
	Body   []byte
	// Final: this is the provider's answer, and another attempt would bring no better one.
	Final bool
	// TooLong: the provider answered with more than may be kept.
	TooLong bool
	// Sent: the provider may have seen the call.
	Sent bool
	// Reason is why the answer is not final, and Wait when another attempt makes sense; 0 where nothing is known.
	Reason string
	Wait   time.Duration
}

// MakeOptions say how to make a call without its caller.
type MakeOptions struct {
	// Patience bounds its time in the queue, beside its lane's own bound.
	Patience time.Duration
	// MaxAnswer bounds the answer's body.
	MaxAnswer int
	// Sending is asked right before the call leaves, and may keep it.
	Sending func() bool
}

// Why a call without a caller was not made, beside the reasons of refusals.
const (
	reasonNoRoute = "NoRoute" // no policy governs the route any more, or it has no key of the gateway's own
	reasonGaveWay = "GaveWay" // a call with a caller needed its place
	reasonPanic   = "Panic"
	// gaveWayWait is how long a call that gave way stays away at least.
	gaveWayWait = time.Second
)

// caller stands in for the caller of a call that is made without one.
type caller struct {
	MakeOptions
	lane    string
	figures *tally.Lane
	failure dialect.Class
	cancel  context.CancelFunc
	done    chan struct{}
	gaveWay atomic.Bool
}

// Deferred returns the bounds of a route's deferred calls; nil where it defers none, or governs none.
func (g *Gateway) Deferred(route string) *plan.Deferred {
	cfg := g.table.Load().routes[route]
	if cfg == nil || cfg.policy == "" {
		return nil
	}
	return cfg.plan.Deferred
}

// Make makes a call once, through the same admission, sending and settlement as a call with a caller. It waits in its
// lane's queue but gives its place up to calls with callers that would be refused otherwise.
func (g *Gateway) Make(ctx context.Context, l *Later, opts MakeOptions) Made {
	cfg := g.table.Load().routes[l.Route]
	if cfg == nil || cfg.policy == "" || cfg.plan.CredentialKey == "" {
		return Made{Reason: reasonNoRoute}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c, rec := g.newLater(ctx, cfg, l, opts)
	c.later.cancel = cancel
	defer close(c.later.done)
	cfg.unattended.add(c.later)
	defer cfg.unattended.remove(c.later)
	g.inFlight.Add(1)
	crashed := c.serveAlone() //nolint:contextcheck // the call holds its request
	made := c.made(rec)
	if crashed {
		made = Made{Reason: reasonPanic, Sent: c.sends > 0}
	}
	return made
}

func (g *Gateway) newLater(ctx context.Context, cfg *config, l *Later, opts MakeOptions) (*call, *recorder) {
	header := l.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	r := (&http.Request{
		Method: http.MethodPost, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header,
		URL:  &url.URL{Path: "/" + l.Route + l.Path, RawQuery: l.Query},
		Body: io.NopCloser(bytes.NewReader(l.Body)), ContentLength: int64(len(l.Body)),
	}).WithContext(ctx)
	rec := &recorder{header: http.Header{}, limit: opts.MaxAnswer}
	c := newCall(g, cfg, rec, r, l.Path, time.Now())
	c.later = &caller{MakeOptions: opts, lane: l.Lane, figures: tally.NewRoute().Lane(l.Lane), done: make(chan struct{})}
	return c, rec
}

// serveAlone serves the call outside any server, which would otherwise stop a panic at the connection.
func (c *call) serveAlone() (crashed bool) {
	defer func() {
		if p := recover(); p != nil && !isAbort(p) {
			crashed = true
			c.g.opts.Log.Error("a deferred call failed", slog.String("route", c.cfg.plan.Name), slog.String("panic", fmt.Sprintf("%T", p)))
		}
	}()
	defer c.end()
	c.serve()
	return false
}

// isAbort recognises how a handler says that its answer broke off.
func isAbort(p any) bool {
	err, ok := p.(error)
	return ok && errors.Is(err, http.ErrAbortHandler)
}

// made reads what came of the call.
func (c *call) made(rec *recorder) Made {
	m := Made{Status: rec.status, Header: rec.sent, Body: rec.body.Bytes(), TooLong: rec.over, Sent: c.sends > 0, Reason: c.reason}
	switch {
	case rec.over:
	case c.outcome == outcomeSuccess:
		m.Final = true
	case c.outcome == outcomeFailed && c.sends > 0:
		m.Final = c.later.failure == dialect.ClassPermanent
		m.Reason = classNames[c.later.failure]
	case c.outcome == outcomeCancelled && c.later.gaveWay.Load():
		m.Reason, m.Wait = reasonGaveWay, gaveWayWait
	case m.Reason == "":
		m.Reason = c.outcome
	}
	if seconds, err := strconv.ParseInt(rec.sent.Get("Retry-After"), 10, 32); err == nil && m.Wait == 0 {
		m.Wait = time.Duration(max(seconds, 0)) * time.Second
	}
	return m
}

// classNames are the failures of a provider as reasons.
var classNames = map[dialect.Class]string{
	dialect.ClassThrottle: "Throttled", dialect.ClassOverload: "Overloaded", dialect.ClassQuota: reasonQuota,
	dialect.ClassTransient: "ProviderError", dialect.ClassPermanent: "Refused",
}

// departs says whether a call may leave: one without a caller may have been told to give way at the last moment.
func (c *call) departs() bool {
	if c.later == nil || c.sends > 0 {
		return true
	}
	if c.cfg.unattended.remove(c.later) && c.later.Sending() {
		return true
	}
	c.settle(admission.Settlement{Kind: admission.NotSent})
	c.outcome = outcomeCancelled
	return false
}

// retryRules are the rules by which a call is sent again. One without a caller is sent once: it comes again through its
// own queue, which outlives the gateway.
func (c *call) retryRules() decide.Settings {
	rules := c.cfg.settings
	if c.later != nil {
		rules.MaxAttempts, rules.OverloadMaxAttempts = 1, 1
	}
	return rules
}

// failedAs notes the class of a failure for a call without a caller.
func (c *call) failedAs(class dialect.Class) {
	if c.later != nil {
		c.later.failure = class
	}
}

// pinned is the lane of a call: one without a caller stays in the lane its caller's headers chose, while there is one
// of that name.
func (c *call) pinned(chosen int) int {
	if c.later == nil {
		return chosen
	}
	for i := range c.cfg.plan.Lanes {
		if c.cfg.plan.Lanes[i].Name == c.later.lane {
			return i
		}
	}
	return chosen
}

// figuresOf are where a call is counted by lane: one without a caller was counted with its caller, and each of its
// attempts is no further call that was offered or refused.
func (c *call) figuresOf(lane int) *tally.Lane {
	if c.later != nil {
		return c.later.figures
	}
	return c.cfg.lanes[lane]
}

// patience is how long the call may wait for its send.
func (c *call) patience() time.Duration {
	if c.later != nil {
		return c.later.Patience
	}
	return patience(c.r.Header, c.cfg.patience, c.arrived)
}
