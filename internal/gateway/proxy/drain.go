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

// lastAnswers is what a drain leaves of its time for the answers of calls that have waited until then.
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

// wait is the gate's decision about a call that it queued. Without one the call has left the queue: its client did, or it
// was answered since the gateway ends.
func (c *call) wait(queued admission.Verdict, since time.Time) (admission.Verdict, bool) {
	ctx, cut := context.WithCancelCause(c.r.Context())
	defer cut(nil)
	due := since.Add(queued.Wait)
	defer context.AfterFunc(c.g.drain.begun, func() { c.g.drain.bound(ctx, due, c.attemptTime(), cut) })()
	v, err := c.cfg.gate.Wait(ctx, c.ticket)
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
