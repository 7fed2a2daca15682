// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"math"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// Refused takes in a refusal of t's send: a fact about the levels. wait is what the provider asks for; ok
// is false without guidance. r and named say what else it told. t was settled.
func (g *Gate) Refused(t *Ticket, r *dialect.Reading, named string, wait time.Duration, ok bool, now time.Time) {
	g.lock()
	defer g.unlock()
	wait = min(wait, longestHold)
	grp := g.groupLocked(t)
	lowered, explained, unexpected := false, false, false
	for _, m := range grp.mirrors {
		cost, _, counts := t.cost(m.budget)
		if !counts || named != "" && named != m.budget || named == "" && sufficient(r, m.budget, cost) {
			continue
		}
		if !m.known && !g.declareLocked(grp, m, t.Account.Model, now) {
			continue
		}
		level := cost - 1
		if ok {
			level = told(cost, wait, m.rate*slower, remaining(r, m.budget))
		}
		explained = explained || m.explains(t)
		unexpected = g.judgeLocked(grp, m, t, cost-max(level, remaining(r, m.budget)), now) || unexpected
		g.sched.Lower(m.id, min(level, cost-1), now)
		m.lowered(t, now)
		lowered = true
	}
	if !lowered && ok && wait > 0 {
		g.holdLocked(grp, wait, now)
	}
	if g.owner(t) && !explained {
		g.adaptLocked(grp, t, unexpected, now)
	}
	g.runLocked(now)
}

// judgeLocked says whether the mirror did not expect that so much was missing at the provider for t. Where it is little
// against t and what is in flight, the rate is as it was: calls were larger than they looked, and the guard too small for
// that. mu is held.
func (g *Gate) judgeLocked(grp *group, m *mirror, t *Ticket, missing float64, now time.Time) bool {
	if !m.let(t) {
		return false
	}
	cost, _, _ := t.cost(m.budget)
	if missing > estimateError*(cost+m.flow.held.cost) {
		return cost <= m.capacity
	}
	m.guard = guard{}
	g.fitLocked(grp, m, now)
	return false
}

// told is the level that a wait for a call of a cost tells of. Waits are rounded up to whole seconds, and within that
// second what the refusal itself reports beats them; beyond it does not, for nobody reports less than nothing.
func told(cost float64, wait time.Duration, rate, remaining float64) float64 {
	level := cost - wait.Seconds()*rate
	if wait%time.Second == 0 {
		level = max(level, min(remaining, level+rate, cost))
	}
	return level
}

// lowered notes that the answer to t showed what is in flight not to fit.
func (m *mirror) lowered(t *Ticket, now time.Time) {
	if m.loweredBy != t.send {
		m.loweredBefore = m.loweredAt
	}
	m.loweredAt, m.loweredBy = now, t.send
}

// explains says that another answer has shown, since t was sent, that what was in flight did not fit: of one wave the
// first refusal tells all.
func (m *mirror) explains(t *Ticket) bool {
	known := m.loweredAt
	if m.loweredBy == t.send {
		known = m.loweredBefore
	}
	return !t.Sent.After(known)
}

// let says that the mirror let t go.
func (m *mirror) let(t *Ticket) bool {
	p := t.part(m)
	return p != nil && p.passage.cost > 0
}

// remaining is what a refusal reports to be left of a budget, far below zero if it does not.
func remaining(r *dialect.Reading, name string) float64 {
	for i := range r.Budgets {
		if b := &r.Budgets[i]; b.Budget == name && b.Bucket == "" && b.Remaining >= 0 {
			return b.Remaining
		}
	}
	return math.Inf(-1)
}

// sufficient says whether the refusal itself shows that a budget had enough for the call.
func sufficient(r *dialect.Reading, name string, cost float64) bool {
	return remaining(r, name) >= cost
}

// declareLocked starts a mirror from the narrowest declared limit of its budget: until the provider says
// more, it sells no more than the policy allows. mu is held.
func (g *Gate) declareLocked(grp *group, m *mirror, model string, now time.Time) bool {
	for _, l := range g.limits {
		if l.Budget != m.budget || !l.matches(model) || rate(l.Limit) <= 0 {
			continue
		}
		if m.known && rate(l.Limit) >= m.rate {
			continue
		}
		m.limit, m.rate = float64(l.Burst), rate(l.Limit)
		m.window = time.Duration(l.WindowSeconds) * time.Second
		m.declared = true
		g.ensureLocked(grp, m, now)
	}
	return m.known
}

// holdLocked holds an account by time: the wait fits no bucket that is known. One call goes first.
func (g *Gate) holdLocked(grp *group, wait time.Duration, now time.Time) {
	h := grp.hold
	h.rate, h.limit = holdRate, 1
	h.id = g.sched.Ensure(budget.Bucket{Name: grp.name + "hold", Rate: holdRate, Capacity: 1}, now)
	h.known, grp.heldAt = true, now
	g.sched.Lower(h.id, 1-wait.Seconds()*holdRate, now)
}

// Succeeded ends a hold by time: the account is served again. A call that was sent before the hold says nothing of that, for
// the provider let it in before it refused the other.
func (g *Gate) Succeeded(t *Ticket) {
	g.lock()
	defer g.unlock()
	if grp := g.groupOf(t); grp != nil {
		if t.Sent.After(grp.heldAt) {
			grp.hold.known = false
		}
		grp.answered(t)
		grp.adaptive.served(g.now())
	}
}

// Floor is the wait until t's call fits by what a refusal reports of resets, for providers whose resets
// tell when a bucket is full: floor = clamp((cost − level)/R, 0, reset), the latest of the budgets that
// have too little. ok is false where nothing is known.
func (g *Gate) Floor(t *Ticket, r *dialect.Reading) (floor time.Duration, ok bool) {
	g.lock()
	defer g.unlock()
	grp := g.groupOf(t)
	if grp == nil || grp.facts.ResetMeans != facts.ResetFull {
		return 0, false
	}
	for i := range r.Budgets {
		b := &r.Budgets[i]
		m := grp.mirror(b.Budget)
		cost, _, counts := t.cost(b.Budget)
		if m == nil || !m.known || !counts || !b.HasReset || b.Limit <= 0 {
			continue
		}
		rate := m.refills(b)
		level := max(b.Remaining, b.Limit-rate*b.Reset.Seconds())
		if level >= cost {
			continue
		}
		// Bounded before it becomes a Duration: an absurd cost would overflow to a wait below zero.
		seconds := min((cost-level)/rate, b.Reset.Seconds())
		floor, ok = max(floor, time.Duration(seconds*float64(time.Second))), true
	}
	return floor, ok
}

const (
	// slowRefill is how much slower than a bucket's window says it must refill by its own figures before these count, and
	// leastFull the shortest reset that tells: both figures are rounded.
	slowRefill = 0.8
	leastFull  = time.Second
)

// refills is the rate at which a bucket refills by what a refusal reports. Where it will be full much later than its
// window would have it, the window is another: who went by it would come too early.
func (m *mirror) refills(b *dialect.BudgetReading) float64 {
	if b.Remaining < 0 || b.Remaining >= b.Limit || b.Reset < leastFull {
		return m.rate
	}
	if rate := (b.Limit - b.Remaining) / b.Reset.Seconds(); rate < m.rate*slowRefill {
		return rate
	}
	return m.rate
}
