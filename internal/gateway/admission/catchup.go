// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import "time"

// catchUpLocked charges a call that goes now to the mirrors that were not known when it came: while it waited, answers
// to others told of them. What they report later would else look like somebody else's spending. mu is held.
func (g *Gate) catchUpLocked(t *Ticket, now time.Time) {
	grp := g.groups[t.Account]
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
