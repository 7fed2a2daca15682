// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package deferred

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/deferred/store"
	"github.com/headgate-dev/headgate/internal/gateway/deferred/ticket"
)

// The ways a ticket cannot be replayed.
var (
	ErrNotDead = errors.New("the deferred call is no dead letter")
	ErrNoBody  = errors.New("the request of the deferred call is gone")
	ErrBusy    = errors.New("the deferred call is being worked on; try again")
)

// Listed is a ticket for who operates the gateway. It tells nothing of the request but where it goes.
type Listed struct {
	ID       string    `json:"id"`
	Policy   string    `json:"policy"`
	Route    string    `json:"route"`
	Lane     string    `json:"lane"`
	State    string    `json:"state"`
	Reason   string    `json:"reason,omitempty"`
	Last     string    `json:"lastError,omitempty"`
	Attempts int       `json:"attempts"`
	Bytes    int64     `json:"bytes"`
	Created  time.Time `json:"created"`
	Expires  time.Time `json:"expires"`
	Callback string    `json:"callback,omitempty"`
}

// List returns this gateway's tickets, oldest first.
func (q *Queue) List() []Listed {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := make([]Listed, 0, len(q.entries))
	for _, e := range q.entries {
		out = append(out, Listed{
			ID: e.ID, Policy: e.Policy, Route: e.Route, Lane: e.Lane, State: string(e.State), Reason: e.Reason, Last: e.Last,
			Attempts: e.Attempts, Bytes: e.Request.Bytes + e.Answer.Bytes, Created: q.wall(e.Created).Round(time.Second),
			Expires: q.wall(e.Expires).Round(time.Second), Callback: string(e.Delivery),
		})
	}
	slices.SortFunc(out, func(a, b Listed) int { return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID)) })
	return out
}

// Replay tries a dead letter anew, with all of its age and attempts, and the same idempotency key.
func (q *Queue) Replay(ctx context.Context, id string) error {
	e, err := q.seize(id)
	if err != nil {
		return err
	}
	defer q.free(e)
	t := e.Clone()
	switch {
	case t.State != ticket.Dead:
		return ErrNotDead
	case t.Reason == ticket.ReasonAnswerExpired || t.Reason == ticket.ReasonDamaged:
		return ErrNoBody
	}
	t.State, t.Reason, t.Last, t.Attempts = ticket.Waiting, "", "", 0
	t.Delivery, t.Deliveries = ticket.Undelivered, 0
	t.NotBefore, t.Expires = q.now(), q.now().Add(t.MaxAge)
	if !q.save(ctx, e, t, store.Bodies{}) {
		return errors.New("the store does not take it")
	}
	q.outcome(t.Policy, t.Route, outcomeReplayed)
	q.log(t, "replayed")
	return nil
}

// seize takes a ticket into the caller's hands.
func (q *Queue) seize(id string) (*entry, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	e := q.entries[id]
	switch {
	case e == nil:
		return nil, store.ErrUnknown
	case e.busy:
		return nil, ErrBusy
	}
	e.busy = true
	return e, nil
}

// Drop cancels a call, or removes what is left of one.
func (q *Queue) Drop(ctx context.Context, id string) error {
	q.mu.Lock()
	e := q.entries[id]
	if e != nil {
		e.gone = true
		if e.cancel != nil {
			e.cancel()
		}
		q.dropLocked(e)
	}
	q.mu.Unlock()
	within, cancel := timeout(ctx)
	defer cancel()
	if e == nil {
		if !q.opts.Shared {
			return store.ErrUnknown
		}
		t, err := q.store.Read(within, id)
		if err != nil {
			return err
		}
		e = &entry{Ticket: t}
	}
	if err := q.store.Delete(within, id); err != nil {
		return err
	}
	q.outcome(e.Policy, e.Route, outcomeCancelled)
	q.log(e.Ticket, "cancelled")
	return nil
}
