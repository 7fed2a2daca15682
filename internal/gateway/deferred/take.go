// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package deferred

import (
	"context"
	"log/slog"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/deferred/callback"
	"github.com/headgate-dev/headgate/internal/gateway/deferred/ticket"
	"github.com/headgate-dev/headgate/internal/gateway/proxy"
	"github.com/headgate-dev/headgate/internal/plan"
)

// headerIdempotency is what providers recognise a repeated call by.
const headerIdempotency = "Idempotency-Key"

// CheckCallback implements proxy.Deferrals.
func (q *Queue) CheckCallback(url string, hosts []string) error { return callback.Check(url, hosts) }

// Take implements proxy.Deferrals.
func (q *Queue) Take(ctx context.Context, l *proxy.Later, bounds *plan.Deferred) (*proxy.Promise, error) {
	t := newTicket(l, bounds, q.now())
	e := &entry{Ticket: t, busy: true}
	if !q.reserve(e, bounds) {
		q.outcome(l.Policy, l.Route, outcomeFull)
		return nil, proxy.ErrDeferredFull
	}
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), takeTimeout)
	defer cancel()
	if err := q.store.Create(within, t, l.Body); err != nil {
		q.forget(e)
		q.outcome(l.Policy, l.Route, outcomeFailed)
		q.opts.Log.Error("a call could not be deferred", slog.String("route", l.Route), slog.String("error", err.Error()))
		return nil, err
	}
	if err := ctx.Err(); err != nil && t.Callback == "" {
		// Its caller has left, and nobody will ever know the ticket.
		q.remove(within, e)
		return nil, err
	}
	q.outcome(l.Policy, l.Route, outcomeAccepted)
	q.log(t, "accepted", slog.Duration("wait", l.Wait))
	p := q.promise(t)
	q.free(e)
	return p, nil
}

func newTicket(l *proxy.Later, bounds *plan.Deferred, now time.Time) *ticket.Ticket {
	age := time.Duration(bounds.MaxAgeSeconds) * time.Second
	t := &ticket.Ticket{
		ID: ticket.NewID(), Policy: l.Policy, Route: l.Route, Lane: l.Lane, Path: l.Path, Query: l.Query,
		Header: l.Header.Clone(), Callback: l.Callback, State: ticket.Waiting, Attempts: l.Sends, Created: now,
		NotBefore: now, Expires: now.Add(age), MaxAge: age, Request: ticket.Describe(l.Body),
	}
	if t.Header == nil {
		t.Header = map[string][]string{}
	}
	if t.Header.Get(headerIdempotency) == "" {
		t.Header[headerIdempotency] = []string{t.ID}
	}
	// What admission predicted holds for a call that has its place in the queue: this one looks earlier. What a
	// provider said holds.
	t.NotBefore = now.Add(min(l.Wait, lookAgain))
	if l.Sends > 0 {
		t.NotBefore = now.Add(l.Wait)
	}
	return t
}

// reserve counts the ticket in, if there is room.
func (q *Queue) reserve(e *entry, bounds *plan.Deferred) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	r := q.routeLocked(routeKey{e.Policy, e.Route})
	size := e.Request.Bytes
	if len(q.entries) >= maxTickets || q.bytes+size > maxBytes ||
		r.waiting+r.done >= int(bounds.MaxCalls) || r.requests+r.answers+size > bounds.MaxBytes {
		return false
	}
	q.entries[e.ID] = e
	q.countLocked(e.Ticket, 1)
	return true
}

// forget drops a ticket of which nobody knows whether the store has it.
func (q *Queue) forget(e *entry) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dropLocked(e)
	if len(q.unwanted) < maxUnwanted {
		q.unwanted = append(q.unwanted, e.ID)
	}
}

// removeUnwanted removes what forget left in the store.
func (q *Queue) removeUnwanted(ctx context.Context) {
	q.mu.Lock()
	ids := q.unwanted
	q.unwanted = nil
	q.mu.Unlock()
	for i, id := range ids {
		if err := q.store.Delete(ctx, id); err != nil {
			q.mu.Lock()
			q.unwanted = append(q.unwanted, ids[i:]...)
			q.mu.Unlock()
			return
		}
	}
}

// remove takes a ticket out of the queue and the store.
func (q *Queue) remove(ctx context.Context, e *entry) {
	q.mu.Lock()
	q.dropLocked(e)
	q.mu.Unlock()
	if err := q.store.Delete(ctx, e.ID); err != nil {
		q.opts.Log.Error("a deferred call could not be removed", slog.String("error", err.Error()))
	}
}
