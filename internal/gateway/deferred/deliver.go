// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package deferred

import (
	"context"
	"log/slog"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/deferred/callback"
	"github.com/headgate-dev/headgate/internal/gateway/deferred/store"
	"github.com/headgate-dev/headgate/internal/gateway/deferred/ticket"
)

// deliver makes one attempt to deliver an outcome. One that was interrupted is made again: a callback may see the same
// ticket twice.
func (q *Queue) deliver(ctx context.Context, m Maker, e *entry) {
	t := e.Clone()
	d := &callback.Delivery{
		URL: t.Callback, Ticket: t.ID, State: string(t.State), Reason: t.Reason,
		Status: t.Status, ContentType: t.AnswerHeader.Get("Content-Type"),
	}
	var err error
	if t.State == ticket.Done {
		if d.Body, err = q.answer(ctx, t); err != nil {
			q.redeliver(ctx, e, t, err)
			return
		}
	} else {
		d.ContentType, d.Body = "application/json", q.describe(t)
	}
	var hosts []string
	if bounds := m.Deferred(t.Route); bounds != nil {
		hosts = bounds.CallbackHosts
	}
	if q.opts.Callbacks == nil {
		err = errNoCallbacks
	} else {
		err = q.opts.Callbacks.Deliver(ctx, d, hosts)
	}
	if err != nil {
		q.redeliver(ctx, e, t, err)
		return
	}
	t.Delivery = ticket.Delivered
	q.save(ctx, e, t, store.Bodies{})
	q.outcome(t.Policy, t.Route, outcomeDelivered)
	q.log(t, "delivered")
}

// redeliver has a delivery tried again, or gives it up. The answer stays to be fetched.
func (q *Queue) redeliver(ctx context.Context, e *entry, t *ticket.Ticket, err error) {
	if ctx.Err() != nil {
		return
	}
	t.Deliveries++
	wait := grown(deliverBase, deliverCap, t.Deliveries)
	wait = wait/2 + time.Duration(q.opts.Rand()*float64(wait/2))
	t.DeliverAt = q.now().Add(wait)
	if t.Deliveries >= maxDeliveries {
		t.Delivery = ticket.GivenUp
		q.outcome(t.Policy, t.Route, outcomeUndeliverable)
	}
	q.log(t, "not delivered", slog.String("error", err.Error()), slog.Int("deliveries", t.Deliveries))
	if !q.save(ctx, e, t, store.Bodies{}) {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.replaceLocked(e, t)
	}
}

// answer reads a stored answer.
func (q *Queue) answer(ctx context.Context, t *ticket.Ticket) ([]byte, error) {
	within, cancel := timeout(ctx)
	defer cancel()
	body, err := q.store.Body(within, t.ID, store.Answer)
	if err == nil && !t.Answer.Holds(body) {
		err = errDamagedAnswer
	}
	return body, err
}
