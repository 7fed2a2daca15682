// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

// learnedLocked puts a call that would go now back in its place, where it lacks what became known while it waited: a
// bucket of the provider's, or that the account is held for a time. It reports whether the call waits on; a call that
// cannot wait so long is refused. mu is held.
func (g *Gate) learnedLocked(t *Ticket, now time.Time) bool {
	if t.call.Verdict().State != budget.Admitted || t.Shadow || !g.lacksLocked(t, now) {
		return false
	}
	for i := range t.call.Costs {
		g.actuals[i] = budget.Cost{Bucket: t.call.Costs[i].Bucket}
	}
	g.sched.Settle(&t.call, g.actuals[:len(t.call.Costs)], now)
	g.costsLocked(t, now)
	return g.sched.Retry(&t.call, now, now).State == budget.Queued
}

// lacksLocked says whether a bucket that the call was not asked for has too little for it; mu is held.
func (g *Gate) lacksLocked(t *Ticket, now time.Time) bool {
	grp := g.groupOf(t)
	if grp == nil {
		return false
	}
	for i, m := range grp.mirrors {
		if t.asks[i] && m.mayAsk(now) {
			continue
		}
		if amount, _, counts := t.cost(m.budget); counts && m.known && t.part(m) == nil && g.sched.Level(m.id, now) < min(amount, m.capacity) {
			return true
		}
	}
	return grp.hold.known && t.part(grp.hold) == nil && g.sched.Level(grp.hold.id, now) < 1
}

// catchUpLocked charges a call that goes now to the mirrors that were not known when it came: while it waited, answers
// to others told of them. What they report later would else look like somebody else's spending. mu is held.
func (g *Gate) catchUpLocked(t *Ticket, now time.Time) {
	grp := g.groupOf(t)
	if grp == nil {
		return
	}
	for _, m := range grp.mirrors {
		n := len(t.parts)
		if !m.known || t.part(m) != nil || n == cap(t.parts) {
			continue
		}
		if t.add(m.budget, m.id, part{mirror: m}); len(t.parts) == n {
			continue // it does not count calls like this one
		}
		g.sched.Charge(&t.call, t.call.Costs[n:], now)
		t.parts[n].send(t.call.Costs[n].Amount, now)
	}
}
