// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package deferred

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/deferred/store"
	"github.com/headgate-dev/headgate/internal/gateway/deferred/ticket"
	"github.com/headgate-dev/headgate/internal/gateway/proxy"
)

// make makes a call once.
func (q *Queue) make(ctx context.Context, m Maker, e *entry) {
	t := e.Ticket
	body, err := q.request(ctx, t)
	switch {
	case t.Attempts >= interruptions*attempts(m, t.Route):
		q.bury(ctx, e, t.Clone(), ticket.ReasonAttempts)
		return
	case errors.Is(err, store.ErrUnknown) || err == nil && !t.Request.Holds(body):
		q.bury(ctx, e, t.Clone(), ticket.ReasonDamaged)
		return
	case err != nil:
		q.later(e, storeAgain)
		return
	}
	made := m.Make(ctx, &proxy.Later{
		Policy: t.Policy, Route: t.Route, Lane: t.Lane, Path: t.Path, Query: t.Query, Header: t.Header.Clone(), Body: body,
		Callback: t.Callback,
	}, proxy.MakeOptions{
		Patience: patience, MaxAnswer: maxAnswer, Sending: func() bool { return q.sending(ctx, e) },
	})
	q.made(ctx, m, e, &made)
}

func (q *Queue) request(ctx context.Context, t *ticket.Ticket) ([]byte, error) {
	if t.Request.Bytes == 0 {
		return nil, nil
	}
	within, cancel := timeout(ctx)
	defer cancel()
	return q.store.Body(within, t.ID, store.Request)
}

// sending notes an attempt before it leaves: one that ends the process counts too. What cannot be noted does not go,
// since its answer could not be stored either.
func (q *Queue) sending(ctx context.Context, e *entry) bool {
	q.mu.Lock()
	t := e.Clone()
	gone := e.gone || q.draining
	e.sent = !gone
	q.mu.Unlock()
	if gone {
		return false
	}
	t.Attempts++
	return q.save(ctx, e, t, store.Bodies{})
}

// made settles what became of an attempt.
func (q *Queue) made(ctx context.Context, m Maker, e *entry, made *proxy.Made) {
	q.mu.Lock()
	t, gone := e.Clone(), e.gone
	q.mu.Unlock()
	switch {
	case gone:
	case made.Final:
		q.answered(ctx, e, t, made)
	case made.TooLong:
		q.bury(ctx, e, t, ticket.ReasonAnswerTooLarge)
	case !made.Sent:
		q.unsent(e, made)
	case ctx.Err() != nil:
		// The gateway ends. The call is begun, and made again with the same key when it is back.
	case t.Attempts >= attempts(m, t.Route):
		t.Last = made.Reason
		q.bury(ctx, e, t, ticket.ReasonAttempts)
	default:
		t.Last = made.Reason
		t.NotBefore = q.now().Add(q.backoff(t.Attempts, made.Wait))
		q.save(ctx, e, t, store.Bodies{})
		q.log(t, "failed", slog.String("reason", made.Reason), slog.Duration("again", t.NotBefore.Sub(q.now())))
	}
}

// interruptions is how many times its attempts a call may leave, counting those that the gateway's own end cut off: these
// are made again, but a call that ends each gateway that makes it is not to do so for ever.
const interruptions = 2

func attempts(m Maker, route string) int {
	if b := m.Deferred(route); b != nil {
		return int(b.MaxAttempts)
	}
	return defaultAttempts
}

// unsent has a call wait that was not sent, and its route's others for a moment.
func (q *Queue) unsent(e *entry, made *proxy.Made) {
	q.mu.Lock()
	q.routeLocked(routeKey{e.Policy, e.Route}).paced = q.now().Add(pace)
	t := e.Clone()
	t.Last = made.Reason
	q.replaceLocked(e, t)
	q.mu.Unlock()
	q.later(e, min(max(made.Wait, pace), lookAgain))
}

// later has a call wait. It is not stored: after a start it is tried at once.
func (q *Queue) later(e *entry, wait time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	t := e.Clone()
	t.NotBefore = q.now().Add(wait)
	q.replaceLocked(e, t)
}

// backoff is the wait after an attempt that was sent: at least what the provider asked for.
func (q *Queue) backoff(attempt int, asked time.Duration) time.Duration {
	own := grown(backoffBase, backoffCap, attempt)
	own = own/2 + time.Duration(q.opts.Rand()*float64(own/2))
	if asked <= 0 {
		return own
	}
	return max(own, asked+time.Duration(q.opts.Rand()*jitterShare*float64(max(asked, time.Second))))
}

// grown doubles base with each attempt, up to limit.
func grown(base, limit time.Duration, attempt int) time.Duration {
	for range attempt - 1 {
		if base >= limit/2 {
			return limit
		}
		base *= 2
	}
	return base
}

// answered stores the provider's answer. It was paid for, so that a store that fails is tried again.
func (q *Queue) answered(ctx context.Context, e *entry, t *ticket.Ticket, made *proxy.Made) {
	body := made.Body
	if body == nil {
		body = []byte{}
	}
	t.State, t.Last = ticket.Done, ""
	t.Status, t.AnswerHeader, t.Answer = made.Status, keptAnswer(made.Header), ticket.Describe(body)
	t.Request = ticket.Part{}
	t.Expires = q.now().Add(t.MaxAge)
	q.announce(t)
	for try := 1; ; try++ {
		if q.save(ctx, e, t, store.Bodies{Answer: body, DropRequest: true}) {
			break
		}
		if try == saveTries || !sleep(ctx, grown(time.Second, storeTimeout, try)) {
			// Made again with the same key, of which the provider knows the answer.
			q.later(e, storeAgain)
			return
		}
	}
	q.outcome(t.Policy, t.Route, outcomeAnswered)
	q.log(t, "answered", slog.Int("status", t.Status))
}

// announce has an outcome delivered, where its caller wanted that.
func (q *Queue) announce(t *ticket.Ticket) {
	if t.Callback != "" && q.opts.Callbacks != nil {
		t.Delivery, t.Deliveries, t.DeliverAt = ticket.Due, 0, q.now()
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// save stores a changed ticket and puts it in place; false where that failed.
func (q *Queue) save(ctx context.Context, e *entry, t *ticket.Ticket, b store.Bodies) bool {
	within, cancel := timeout(ctx)
	defer cancel()
	err := q.store.Save(within, t, b)
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case err == nil:
		q.replaceLocked(e, t)
		return true
	case errors.Is(err, store.ErrLost):
		e.gone = true
		q.dropLocked(e)
	default:
		q.opts.Log.Error("a deferred call could not be stored", slog.String("ticket", t.ID[:shown]), slog.String("error", err.Error()))
	}
	return false
}
