// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"math"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
)

// Observe takes in what any response to t's send reports of the provider's buckets, when its headers have come. Where
// others share the limits it only tightens.
func (g *Gate) Observe(t *Ticket, r *dialect.Reading, now time.Time) {
	if len(r.Budgets) == 0 {
		return
	}
	g.lock()
	defer g.unlock()
	grp := g.groupLocked(t)
	grp.jitter.add(now.Sub(t.Sent))
	g.recoverLocked(grp, now)
	for i := range r.Budgets {
		b := &r.Budgets[i]
		if m := grp.mirror(b.Budget); m != nil && b.Bucket == "" {
			g.observeLocked(t, grp, m, b, now)
		}
	}
	for i := range t.parts {
		if p := &t.parts[i]; p.mirror != nil && grp.takenAtOnce(p.budget) {
			p.mirror.flow.answer(&p.passage)
		}
	}
	g.runLocked(now)
}

// takenAtOnce says that the provider has taken all of a call's cost when its answer begins. The rest is taken while it
// goes on, or corrected at its end.
func (grp *group) takenAtOnce(name string) bool {
	switch {
	case name == plan.Requests, grp.facts.Charges == facts.MaxAtAdmission:
		return true
	}
	return name == plan.InputTokens && grp.facts.Charges == facts.AsProduced
}

// owner says that nobody else spends by the same limits, and that t was sent when it was admitted: only then do our own
// counts say what the provider's bucket has.
func (g *Gate) owner(t *Ticket) bool { return !g.shared && !t.Shadow }

func (g *Gate) observeLocked(t *Ticket, grp *group, m *mirror, b *dialect.BudgetReading, now time.Time) {
	if b.Limit > 0 || b.Remaining >= 0 {
		m.heard = now
	}
	g.learnLocked(grp, m, b, now)
	if !(b.Remaining >= 0) || math.IsInf(b.Remaining, 0) {
		return
	}
	m.remaining, m.reported = b.Remaining, true
	if !m.known {
		return
	}
	g.clampLocked(t, grp, m, b, now)
	if p := t.part(m); p != nil && g.owner(t) && grp.facts.ResetMeans == facts.ResetFull {
		// Of buckets that refill at once nobody can tell a missing refill from others' spending.
		m.outsiders.see(sighting{t.Sent, b.Remaining, p.passage.spent}, m.rate, m.limit, step(b))
	}
	g.fitLocked(grp, m, now)
}

// clampLocked sets the level to what a report allows: m ± ρ was true at some moment between the send and now.
//
//	hi = m + ρ + R·(now − sent), less R·jitter: who leaves now may arrive before who left earlier
//	lo = m − ρ − all that may have reached the provider after the report was written − 3σ of what is in flight
//
// A report of an earlier call allows more to hi and less to lo, and lo never exceeds what all reports prove, so the order
// in which answers come does no harm.
func (g *Gate) clampLocked(t *Ticket, grp *group, m *mirror, b *dialect.BudgetReading, now time.Time) {
	if m.id == budget.NoBucket {
		return
	}
	before := g.sched.Level(m.id, now)
	took := max(0, now.Sub(t.Sent).Seconds())
	rho := step(b) - 1
	hi := b.Remaining + rho + m.rate*took
	lo := math.Inf(-1)
	if p := t.part(m); p != nil && g.owner(t) && m.unseen == 0 {
		after := m.flow.after(&p.passage, grp.takenAtOnce(m.budget))
		lo = min(b.Remaining-rho, m.capacity) - after.cost - m.doubt(after) -
			m.outsiders.spend(m.rate, now)*took
	}
	m.proven.refill(m.rate, m.limit, now)
	inside := min(guardStart*m.limit, m.rate*m.jitter.seconds())
	lo = m.proven.bound(lo, hi, inside, t.Sent, g.sends)
	m.disagree(max(0, before-hi) - max(0, lo-before))
	if hi < before && lo < 0 {
		m.lowered(t, now)
	}
	g.sched.Lower(m.id, max(lo, hi-inside), now)
	// A remaining of nothing may be less: buckets are in debt, and nobody reports that.
	if b.Remaining > 0 && lo > math.Inf(-1) {
		g.sched.Raise(m.id, lo, now)
	}
}

// step is what a report is rounded to.
func step(b *dialect.BudgetReading) float64 {
	if !(b.RoundedTo >= 1) {
		return 1
	}
	return min(b.RoundedTo, largestCost)
}

// disagree takes in by how much a report contradicts the mirror.
func (m *mirror) disagree(by float64) {
	m.disagreement += disagreementWeight * (clamp(by, -largestCost, largestCost) - m.disagreement)
}

// learnLocked learns a limit and its rate: from the window where the dialect knows it, else from what a
// reset to full says; mu is held.
func (g *Gate) learnLocked(grp *group, m *mirror, b *dialect.BudgetReading, now time.Time) {
	if !(b.Limit > 0) || math.IsInf(b.Limit, 0) {
		return
	}
	var r float64
	var basis time.Duration
	window := b.Window
	switch {
	case window > longestWindow || window <= 0 && b.Reset > longestWindow:
		return
	case window > 0:
		r = b.Limit / window.Seconds()
	case grp.facts.ResetMeans == facts.ResetFull && b.HasReset && b.Reset >= max(shortestReset, m.basisOf(b.Limit)) &&
		b.Remaining >= 0 && b.Remaining < b.Limit:
		r, basis = (b.Limit-b.Remaining)/b.Reset.Seconds(), b.Reset
		window = time.Duration(b.Limit / r * float64(time.Second)).Round(time.Second)
	case m.known && !m.declared:
		r, window, basis = m.rate, m.window, m.basis
	default:
		return
	}
	if m.known && !m.declared && m.limit == b.Limit && within(m.rate, r, 0.02) {
		return
	}
	level := math.Inf(-1)
	if m.known && b.Remaining >= 0 {
		level = g.sched.Level(m.id, now)
	}
	m.limit, m.rate, m.window, m.basis, m.declared = b.Limit, r, window, basis, false
	m.outsiders = outsiders{}
	g.ensureLocked(grp, m, now)
	// A smaller limit takes its part of a level, as an edit of the policy does. What is left of it the report itself tells; and
	// where several buckets stand behind one name, and answer in turn, their limits would shrink it without end.
	g.sched.Raise(m.id, min(level, m.capacity), now)
}

// basisOf is the least reset that a rate is computed from anew: times and levels are rounded, and the shorter a reset
// the more that makes of it.
func (m *mirror) basisOf(limit float64) time.Duration {
	if !m.known || m.declared || m.limit != limit {
		return 0
	}
	return m.basis / 2
}

// within compares with a relative tolerance: a rate computed from rounded times must not be set anew
// with each response.
func within(a, b, tolerance float64) bool {
	d := a - b
	return d <= tolerance*b && -d <= tolerance*b
}

// ensureLocked gives the scheduler the mirror's numbers.
func (g *Gate) ensureLocked(grp *group, m *mirror, now time.Time) {
	m.pace, m.capacity = g.paceOf(grp, m, now), m.limit-m.guarded()
	window := m.window
	if m.declared {
		// The policy's hour or day is not the provider's: what it asks to wait is waited, and no allowance is used up.
		window = 0
	}
	m.id = g.sched.Ensure(budget.Bucket{
		Name: grp.name + m.budget, Rate: m.pace, Capacity: m.capacity, Limit: m.limit, Window: window,
		// What idle lanes of gateways that share keep is kept once, where the limits are shared. Kept again of what the
		// provider has, which is little more, it would leave nothing that other lanes could borrow.
		Unheld: g.shared,
	}, now)
	if !m.known {
		m.known = true
		m.proven = proven{most: m.limit, at: now, send: g.sends}
		m.unseen, m.blind = g.held, g.sends
		g.blind = g.sends
	}
}
