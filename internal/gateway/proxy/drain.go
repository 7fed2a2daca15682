// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// reasonDraining is why a call is not sent for which the gateway will not live long enough.
const reasonDraining = "Draining"

// lastAnswers is what a drain leaves of its time for the answers of calls that have waited until then. A process that is
// stalled just then has more: see Away.
const lastAnswers = 500 * time.Millisecond

var errDraining = errors.New("the gateway ends")

// drain is a gateway's end. until is set before begun ends, and never after.
type drain struct {
	begun context.Context //nolint:containedctx // it ends when the drain begins
	begin context.CancelFunc
	until time.Time
}

func newDrain() drain {
	begun, begin := context.WithCancel(context.Background())
	return drain{begun: begun, begin: begin}
}

// EndBy has the gateway end until then. It goes on serving; but who waits for what cannot come in that time is answered,
// at once where that is known and else when it becomes so: at the end every call is cut.
func (g *Gateway) EndBy(until time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.drain.begun.Err() == nil {
		g.drain.until = until
		g.drain.begin()
	}
}

// tooLate says that a send at some time, which needs so long, is none that this gateway can make.
func (d *drain) tooLate(at time.Time, needs time.Duration) bool {
	return d.begun.Err() != nil && at.Add(needs+lastAnswers).After(d.until)
}

// bound ends a wait by cut, as soon as it is too late for a send that is due at some time and needs so long.
func (d *drain) bound(ctx context.Context, due time.Time, needs time.Duration, cut context.CancelCauseFunc) {
	left := time.Until(d.until.Add(-needs - lastAnswers))
	if d.tooLate(due, needs) {
		left = 0
	}
	timer := time.NewTimer(max(left, 0))
	defer timer.Stop()
	select {
	case <-timer.C:
		cut(errDraining)
	case <-ctx.Done():
	}
}

// Away is how many calls wait for others than the gateway: for the rest of what their clients send, or for their providers.
// The end of a drain cuts these and no others: whoever waits in a queue is answered by itself before, and is waited for.
// Calls without callers are none of these.
func (g *Gateway) Away() int64 { return g.away.Load() }

// goes says that the call waits for others, until it stays.
func (c *call) goes() {
	if o := c.original(); !o.away && o.later == nil {
		o.away = true
		o.g.away.Add(1)
	}
}

// stays says that the call is in the gateway's own hands.
func (c *call) stays() {
	if o := c.original(); o.away {
		o.away = false
		o.g.away.Add(-1)
	}
}

// original is the call as it came, of which the one that fails over is a part.
func (c *call) original() *call {
	for c.from != nil {
		c = c.from
	}
	return c
}

// wait is the gate's decision about a call that it queued. Without one the call has left the queue: its client did, or it
// was answered since the gateway ends.
func (c *call) wait(queued admission.Verdict, since time.Time) (admission.Verdict, bool) {
	ctx, cut := context.WithCancelCause(c.r.Context())
	defer cut(nil)
	due := since.Add(queued.Wait)
	defer context.AfterFunc(c.g.drain.begun, func() { c.g.drain.bound(ctx, due, c.attemptTime(), cut) })()
	c.stays()
	v, err := c.cfg.gate.Wait(ctx, c.ticket)
	// What the call may do instead of being sent depends on whether its client has heard anything: it hears no more.
	c.alive.rest()
	switch {
	case err == nil:
		return v, true
	case errors.Is(context.Cause(ctx), errDraining) && c.r.Context().Err() == nil:
		c.drained(due.Sub(c.now()))
	default:
		c.outcome = outcomeCancelled
		c.lane.Left()
	}
	return v, false
}

// drained answers a call that the gateway will not send any more.
func (c *call) drained(wait time.Duration) {
	if c.elsewhere(reasonDraining, wait) {
		return
	}
	reason := c.spokenReason(reasonDraining)
	c.lane.Refused(reason)
	c.outcome = outcomeRefused
	c.refuse(dialect.Refusal{
		Status: http.StatusServiceUnavailable, Reason: reason, RetryAfter: wait,
		Message: "headgate: " + c.cfg.who + ": this gateway ends before the call could be sent. " + c.notSent(),
	})
}
