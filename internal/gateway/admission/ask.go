// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import "time"

// A mirror by which no call goes hears no answer that could correct it: one word of a provider, true or not, would shut an
// account for good. So now and then a call is let past it.

// asks are the mirrors that a call is let past, by their places in a group.
type asks [len(mirrored)]bool

// mayAsk says that a call may go past the mirror. What the policy declares is no word of the provider's.
func (m *mirror) mayAsk(now time.Time) bool {
	return !m.declared && now.Sub(m.heard) >= askAgain && now.Sub(m.asked) >= askAgain
}

// asksLocked says that t goes past the mirror, if that would keep it for as long as another is let past, or for good. One that has
// room for it, or will have soon, keeps nobody from hearing an answer: that a provider served what its word allows says nothing
// against that word. mu is held.
func (g *Gate) asksLocked(t *Ticket, m *mirror, now time.Time) bool {
	if !m.known || !m.mayAsk(now) {
		return false
	}
	amount, atLeast, counts := t.cost(m.budget)
	lacks := min(amount, m.capacity) - g.sched.Level(m.id, now)
	return counts && (atLeast > m.capacity || lacks > m.pace*askAgain.Seconds())
}

// askedLocked notes that t goes past mirrors: the next one waits for its answer, or as long again; mu is held.
func (g *Gate) askedLocked(t *Ticket, now time.Time) {
	grp := g.groupOf(t)
	if grp == nil {
		return
	}
	for i, m := range grp.mirrors {
		if t.asks[i] {
			m.asked = now
		}
	}
}

// answered forgets mirrors that t was let past, where it was served and its answer says nothing new of them.
func (grp *group) answered(t *Ticket) {
	for i, m := range grp.mirrors {
		if t.asks[i] && m.heard.Before(t.Sent) {
			m.known = false
		}
	}
}
