// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package deferred

import (
	"log/slog"
	"maps"

	"github.com/headgate-dev/headgate/internal/gateway/deferred/ticket"
	"github.com/headgate-dev/headgate/internal/gateway/proxy"
)

// The outcomes, as metrics name them. The set is closed.
const (
	outcomeAccepted      = "accepted"      // stored, and answered 202
	outcomeFull          = "full"          // refused, for want of room
	outcomeAnswered      = "answered"      // the provider's answer is stored
	outcomeDead          = "dead_letter"   // given up
	outcomeCancelled     = "cancelled"     // by its owner, or by the command
	outcomeReplayed      = "replayed"      // a dead letter that is tried anew
	outcomeDelivered     = "delivered"     // to its callback
	outcomeUndeliverable = "undeliverable" // the callback took it at no attempt
	outcomeFailed        = "store_failed"  // the store could not take it
)

// Counts implements proxy.Deferrals.
func (q *Queue) Counts(policy, name string) proxy.DeferredCounts {
	q.mu.Lock()
	defer q.mu.Unlock()
	r := q.routes[routeKey{policy, name}]
	if r == nil {
		return proxy.DeferredCounts{}
	}
	return proxy.DeferredCounts{
		Waiting: uint64(max(r.waiting, 0)), Done: uint64(max(r.done, 0)), DeadLetters: uint64(max(r.dead, 0)),
		Outcomes: maps.Clone(r.outcomes),
	}
}

func (q *Queue) outcome(policy, name, outcome string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.routeLocked(routeKey{policy, name}).outcomes[outcome]++
}

// shown bounds what a log shows of an ID: the whole of it gives access to the answer.
const shown = 8

func (q *Queue) log(t *ticket.Ticket, what string, more ...any) {
	q.opts.Log.Info("deferred call", append([]any{
		slog.String("what", what), slog.String("ticket", t.ID[:shown]), slog.String("route", t.Route),
		slog.String("policy", t.Policy), slog.Int("attempts", t.Attempts),
	}, more...)...)
}
