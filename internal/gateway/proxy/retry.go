// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"net/http"
	"sync"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/tally"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/policy/decide"
)

// situation is what a send led to.
type situation struct {
	class  dialect.Class
	wait   time.Duration
	guided bool
	source dialect.Source
	// maybe: the call may have been processed.
	maybe bool
	// never: sending it again cannot help.
	never bool
}

// again is another send that the gate has taken in: it is admitted, or it waits.
type again struct {
	verdict admission.Verdict
	since   time.Time
	source  string
}

// final is how a call ends without another send.
type final struct {
	// ours: the answer is final for our part, and says so to the client.
	ours   bool
	reason string
	// wait is when a client may come back; 0 where nothing is known.
	wait time.Duration
}

// retryBudget bounds the retries of one route that no provider asked for.
type retryBudget struct {
	mu     sync.Mutex
	budget decide.Budget
}

func (b *retryBudget) call(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.budget.Call(now)
}

func (b *retryBudget) left(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.budget.Left(now)
}

func (b *retryBudget) take(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.budget.Take(now)
}

// next decides whether the call is sent again, and puts it in the gate's queue if so. Nothing of the
// failed send is given up before the gate has accepted: where it refuses, the provider's own answer is
// passed on.
func (c *call) next(s situation) (*again, final) {
	if c.cfg.plan.Observe || c.r.Context().Err() != nil {
		return nil, final{}
	}
	now := c.now()
	d := decide.Decide(c.decideInput(s, now))
	if d.Action != decide.Retry || s.never {
		return nil, final{ours: d.Final, reason: string(d.Reason), wait: d.RetryAfter}
	}
	if c.g.drain.tooLate(now.Add(d.Wait), c.attemptTime()) {
		return nil, final{ours: true, reason: reasonDraining, wait: d.Wait}
	}
	v := c.cfg.gate.Retry(c.ticket, now.Add(d.Wait), now)
	if v.State == budget.Refused {
		return nil, final{ours: true, reason: string(v.Reason), wait: max(d.Floor, v.Wait)}
	}
	if d.Charge {
		c.cfg.retries.take(now)
	}
	source := tally.WaitProvider
	if d.Source == "" {
		source = tally.WaitBackoff
	}
	return &again{verdict: v, since: now, source: source}, final{}
}

// repeatAtOnce sends the call again because of something of ours in it that the provider did not accept.
func (c *call) repeatAtOnce(now time.Time) (*again, final) {
	v := c.cfg.gate.Retry(c.ticket, now, now)
	if v.State == budget.Refused {
		return nil, final{ours: true, reason: string(v.Reason), wait: v.Wait}
	}
	return &again{verdict: v, since: now, source: c.source}, final{}
}

func (c *call) decideInput(s situation, now time.Time) decide.Input {
	return decide.Input{
		Class:    decide.Class(s.class),
		Guidance: decide.Guidance{Wait: s.wait, Source: string(s.source), Has: s.guided},
		Attempt:  c.sends, Arrived: c.arrived, Now: now, Deadline: c.deadline,
		AttemptTime:    c.attemptTime(),
		BodyGone:       !c.body.Replayable(),
		MaybeProcessed: s.maybe,
		Repeatable:     repeatable(c.r),
		RetriesLeft:    c.cfg.retries.left(now),
		Settings:       c.retryRules(),
		Rand:           c.g.random,
	}
}

// repeatable says that processing a request twice does no harm.
func repeatable(r *http.Request) bool {
	return r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodOptions
}

// settings are a route's retry rules.
func settings(r *plan.Route) decide.Settings {
	return decide.Settings{
		HonourCeiling: millis(r.Throttle.HonourCeilingMillis),
		JitterPercent: int(r.Throttle.JitterPercent),
		MaxAttempts:   int(r.Throttle.MaxAttempts),
		Unguided: decide.Backoff{
			Base: millis(r.Unguided.BaseMillis), Cap: millis(r.Unguided.CapMillis), Equal: r.Unguided.Equal,
		},
		Overload:            decide.Backoff{Base: millis(r.Overload.BaseMillis), Cap: millis(r.Overload.CapMillis)},
		OverloadMaxAttempts: int(r.Overload.MaxAttempts),
	}
}

func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
