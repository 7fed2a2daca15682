// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
)

// costsLocked fills in what t takes: every limit it matches, and the provider's buckets; mu is held.
func (g *Gate) costsLocked(t *Ticket, now time.Time) {
	if most := len(g.limits) + 5; cap(t.parts) < most {
		t.call.Costs, t.parts = make([]budget.Cost, 0, most), make([]part, 0, most)
	}
	t.call.Costs, t.parts, t.asks = t.call.Costs[:0], t.parts[:0], asks{}
	t.call.Granted = t.Granted
	for _, l := range g.limits {
		if len(l.Models) == 0 || t.MayBeOf(l.Models) {
			t.add(l.Budget, l.id, part{limit: l})
		}
	}
	grp := g.groupOf(t)
	if grp == nil {
		return
	}
	g.recoverLocked(grp, now)
	for i, m := range grp.mirrors {
		if t.asks[i] = g.asksLocked(t, m, now); m.known && !t.asks[i] {
			t.add(m.budget, m.id, part{mirror: m})
		}
	}
	if grp.hold.known {
		t.add(plan.Requests, grp.hold.id, part{mirror: grp.hold})
	}
}

// add adds a cost, where the budget counts calls like t.
func (t *Ticket) add(name string, id budget.BucketID, p part) {
	amount, atLeast, counts := t.cost(name)
	if !counts {
		return
	}
	p.budget = name
	t.parts = append(t.parts, p)
	t.call.Costs = append(t.call.Costs, budget.Cost{Bucket: id, Amount: amount, AtLeast: atLeast})
}

// cost is what t takes of a budget, and the least it may turn out to take.
func (t *Ticket) cost(name string) (amount, atLeast float64, counts bool) {
	est := &t.Estimate
	switch name {
	case plan.Requests, plan.InFlight:
		return 1, 1, true
	case plan.InputTokens:
		return est.Input, est.InputAtLeast, t.Metered
	case plan.OutputTokens:
		return est.Output, 0, t.Metered
	case plan.Tokens:
		return est.Input + est.Output, est.InputAtLeast, t.Metered
	}
	return 0, 0, false
}

// Charge charges output as it is produced, beyond what was reserved.
func (g *Gate) Charge(t *Ticket, output float64, now time.Time) {
	more := t.exceeds(output)
	if more == 0 {
		return
	}
	g.lock()
	defer g.unlock()
	if !t.held {
		return
	}
	t.charged += more
	n := 0
	for i := range t.call.Costs {
		if name := t.parts[i].budget; name == plan.OutputTokens || name == plan.Tokens {
			g.actuals[n] = budget.Cost{Bucket: t.call.Costs[i].Bucket, Amount: more}
			n++
		}
	}
	g.sched.Charge(&t.call, g.actuals[:n], now)
	g.runLocked(now)
}

// Release ends t's send: it settles a reservation that is held, and takes a queued ticket out of its
// queue. Later calls change nothing.
func (g *Gate) Release(t *Ticket, s Settlement) {
	g.ReleaseAt(t, s, g.now())
}

// ReleaseAt is Release at a given time.
func (g *Gate) ReleaseAt(t *Ticket, s Settlement, now time.Time) {
	g.lock()
	defer g.unlock()
	switch {
	case t.held:
		g.settleLocked(t, s, now)
	case t.call.Verdict().State == budget.Queued && t.Shadow && s.Kind != NotSent:
		// It has gone in fact; its charge follows when it would have gone.
		late := s
		t.late = &late
		return
	case t.call.Verdict().State == budget.Queued:
		g.sched.Cancel(&t.call, now)
		g.waiting--
	default:
		return
	}
	g.runLocked(now)
}

// settleLocked ends a held reservation; mu is held.
func (g *Gate) settleLocked(t *Ticket, s Settlement, now time.Time) {
	t.held = false
	t.late = nil
	g.held--
	g.estimator.ended(t.Account.Model)
	n := 0
	for i := range t.call.Costs {
		amount, ok := g.actual(t, &t.parts[i], s)
		if ok {
			g.actuals[n] = budget.Cost{Bucket: t.call.Costs[i].Bucket, Amount: amount}
			n++
		}
		t.parts[i].settle(t, amount, ok, s.Kind)
	}
	if t.send <= g.blind {
		g.seenLocked(t)
	}
	g.sched.Settle(&t.call, g.actuals[:n], now)
	if s.Kind == Billed {
		g.learn(t, s)
	}
}

// send tells the mirror of a send.
func (p *part) send(cost float64, now time.Time) {
	m := p.mirror
	p.passage = m.flow.send(cost)
	m.proven.refill(m.rate, m.limit, now)
	m.proven.most -= p.passage.cost
}

// settle tells the mirror what t's send cost; where nothing is known, what was reserved and charged beyond.
func (p *part) settle(t *Ticket, actual float64, known bool, kind Kind) {
	m := p.mirror
	if m == nil {
		return
	}
	reserved := p.passage.cost
	if !known {
		actual = reserved
		if p.budget == plan.OutputTokens || p.budget == plan.Tokens {
			actual += t.charged
		}
	}
	if kind == Billed {
		m.guard.add(m.flow.held)
		m.spread.add(actual, reserved)
	}
	if p.passage.held {
		m.proven.giveBack(reserved-clamp(actual, 0, largestCost), t.send)
	}
	m.flow.settle(&p.passage, actual)
}

// seenLocked notes the end of a send that some mirrors' flows do not hold; mu is held.
func (g *Gate) seenLocked(t *Ticket) {
	for _, grp := range g.groups {
		for _, m := range grp.mirrors {
			if m.unseen > 0 && t.send <= m.blind {
				m.unseen--
			}
		}
	}
}

// actual is what one cost is settled at; without one it stays what was reserved and charged.
func (g *Gate) actual(t *Ticket, p *part, s Settlement) (amount float64, ok bool) {
	rejected := s.Kind == Rejected || s.Kind == NotSent
	switch {
	case p.budget == plan.InFlight, s.Kind == KeptBack:
		return 0, true
	case p.budget == plan.Requests:
		// The policy keeps the request: it counts calls made, whatever came of them.
		if p.limit == nil && (s.Kind == NotSent || rejected && !t.facts.ChargesRejected) {
			return 0, true
		}
		return 1, true
	}
	if rejected {
		return 0, true
	}
	in, out := g.reported(t, p, s)
	switch {
	case s.Kind == Kept:
		return g.kept(t, p, s, in, out)
	case in < 0 || out < 0:
		in, out = fallback(in, t.Estimate.Input), fallback(out, max(t.Estimate.Output, float64(s.Seen)))
	}
	return sum(p.budget, in, out), true
}

// reported is the input and output a response reported, as far as it did.
func (g *Gate) reported(t *Ticket, p *part, s Settlement) (in, out float64) {
	in = float64(s.Usage.ChargedInput(t.facts.CachedInputFree))
	out = float64(s.Usage.Output)
	if p.mirror != nil && t.facts.Charges == facts.MaxAtAdmission {
		// The provider took the largest output when it admitted the call, and gives nothing back.
		out = max(out, t.Estimate.Output)
	}
	return in, out
}

// kept is the larger of what was seen and what is reserved.
func (g *Gate) kept(t *Ticket, p *part, s Settlement, in, out float64) (float64, bool) {
	seen := sum(p.budget, max(in, 0), max(out, float64(s.Seen), 0))
	reserved, _, _ := t.cost(p.budget)
	return seen, seen > reserved+t.charged
}

func sum(name string, in, out float64) float64 {
	switch name {
	case plan.InputTokens:
		return in
	case plan.OutputTokens:
		return out
	}
	return in + out
}

func fallback(v, instead float64) float64 {
	if v < 0 {
		return instead
	}
	return v
}

// learn takes in what t cost, as those are charged that come from now on: what prompts are like they are wherever they go.
func (g *Gate) learn(t *Ticket, s Settlement) {
	g.estimator.Learn(t.Account.Model, t.Estimate, Charge{
		Input: float64(s.Usage.ChargedInput(false)), Charged: float64(s.Usage.ChargedInput(g.facts.CachedInputFree)),
		Output: float64(s.Usage.Output),
	})
}
