// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package deferred

import (
	"context"
	"log/slog"
	"net/http"
	"unicode/utf8"

	"github.com/headgate-dev/headgate/internal/gateway/deferred/store"
	"github.com/headgate-dev/headgate/internal/gateway/deferred/ticket"
)

// bury makes a call a dead letter. Its request stays, so that it can be replayed.
func (q *Queue) bury(ctx context.Context, e *entry, t *ticket.Ticket, reason string) {
	t.State, t.Reason = ticket.Dead, reason
	t.Expires = q.now().Add(t.MaxAge)
	var b store.Bodies
	if reason == ticket.ReasonAnswerExpired || reason == ticket.ReasonDamaged {
		b.DropRequest, b.DropAnswer = true, true
		t.Request, t.Answer = ticket.Part{}, ticket.Part{}
	}
	if reason != ticket.ReasonAnswerExpired {
		q.announce(t)
	}
	if !q.save(ctx, e, t, b) {
		q.later(e, storeAgain)
		return
	}
	q.outcome(t.Policy, t.Route, outcomeDead)
	q.log(t, "dead letter", slog.String("reason", reason), slog.String("last", t.Last))
	q.makeRoomForDead(ctx, routeKey{t.Policy, t.Route})
}

// makeRoomForDead removes the oldest dead letters of a route beyond the bound.
func (q *Queue) makeRoomForDead(ctx context.Context, key routeKey) {
	within, cancel := timeout(ctx)
	defer cancel()
	for range maxDead {
		oldest := q.takeOldestDead(key)
		if oldest == nil {
			return
		}
		q.remove(within, oldest)
	}
}

// takeOldestDead takes the oldest dead letter out of the dispatcher's hands if there are too many.
func (q *Queue) takeOldestDead(key routeKey) *entry {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.routeLocked(key).dead <= maxDead {
		return nil
	}
	var oldest *entry
	for _, e := range q.entries {
		if e.State == ticket.Dead && !e.busy && e.Policy == key.policy && e.Route == key.route &&
			(oldest == nil || e.Expires.Before(oldest.Expires)) {
			oldest = e
		}
	}
	if oldest != nil {
		oldest.busy = true
	}
	return oldest
}

// expire ends what has been there for its age.
func (q *Queue) expire(ctx context.Context, e *entry) {
	t := e.Clone()
	switch t.State {
	case ticket.Waiting:
		q.bury(ctx, e, t, ticket.ReasonExpired)
	case ticket.Done:
		t.Delivery = ticket.Undelivered
		q.bury(ctx, e, t, ticket.ReasonAnswerExpired)
	case ticket.Dead:
		within, cancel := timeout(ctx)
		defer cancel()
		q.remove(within, e)
	}
}

// Bounds of what is kept of an answer's headers.
const (
	maxAnswerHeaders = 64
	maxAnswerBytes   = 64 << 10
)

// keptAnswer are the headers of an answer to keep: no cookies, which were for the gateway's connection, and nothing of
// the length, which is known.
func keptAnswer(h http.Header) http.Header {
	out, room := http.Header{}, maxAnswerBytes
	keep := func(name string) {
		values := h[name]
		size := len(name)
		for _, v := range values {
			size += len(v)
			if !utf8.ValidString(v) {
				return // the record would change it
			}
		}
		if _, has := out[name]; has || len(values) == 0 || len(out) >= maxAnswerHeaders || size > room {
			return
		}
		out[name] = values
		room -= size
	}
	keep("Content-Type")
	keep("Content-Encoding")
	for name := range h {
		switch name {
		case "Set-Cookie", "Set-Cookie2", "Content-Length":
		default:
			keep(name)
		}
	}
	return out
}
