// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/plan"
)

// maxListed is how long a report's lists may be: no route has so much.
const maxListed = 64

// inward puts a report into l.report, by the pool's names. What the route does not have is left out.
func (l *Ledger) inward(r *route, m *member, rep *pool.Report) error {
	if len(rep.Counts) > maxListed || len(rep.Wants) > maxListed || len(rep.Seen) > maxListed {
		return pool.ErrBounds
	}
	out := &l.report
	counts, wants, seen := out.Counts[:0], out.Wants, out.Seen[:0]
	*out = *rep
	out.Holder = m.name
	switch {
	case rep.Term.Epoch > r.term:
		return pool.ErrFenced
	case rep.Term.Epoch == r.term:
		out.Term.Epoch = r.pool.epoch
	case rep.Term.Epoch > 0:
		// Of a pool that it drew on before: no term of this one.
		out.Term.Epoch = min(rep.Term.Epoch, r.pool.epoch-1)
	}
	for _, c := range rep.Counts {
		if name, ok := r.budgets[c.Budget]; ok {
			c.Budget = name
			counts = append(counts, c)
		}
	}
	out.Counts, out.Seen = counts, r.amounts(seen, rep.Seen)
	out.Wants = wants[:0]
	for i := range rep.Wants {
		w := &rep.Wants[i]
		if len(w.Units) > maxListed {
			return pool.ErrBounds
		}
		var room []pool.Amount
		if i < cap(wants) {
			room = wants[:cap(wants)][i].Units[:0]
		}
		out.Wants = append(out.Wants, pool.Want{Lane: r.laneNamed(w.Lane), Bulk: w.Bulk, Units: r.amounts(room, w.Units)})
	}
	return nil
}

func (r *route) amounts(into, from []pool.Amount) []pool.Amount {
	for _, a := range from {
		if name, ok := r.budgets[a.Budget]; ok {
			into = append(into, pool.Amount{Budget: name, Units: a.Units})
		}
	}
	return into
}

// laneNamed is the pool's name of a lane; one that the plan does not have is its default.
func (r *route) laneNamed(name string) string {
	if in, ok := r.lanes[name]; ok {
		return in
	}
	return r.lanes[plan.DefaultLane]
}

// outward puts a grant into the plan's names.
func (r *route) outward(g *pool.Grant, m *member) {
	g.Holder = m.holder
	g.Term.Epoch = r.term
	g.Totals, g.Expected = r.named(g.Totals), r.named(g.Expected)
	lanes := g.Lanes[:0]
	for _, t := range g.Lanes {
		if name, ok := r.laneOf[t.Lane]; ok {
			t.Lane, t.Units, t.Outlook = name, r.named(t.Units), r.outlook(t.Outlook)
			lanes = append(lanes, t)
		}
	}
	g.Lanes = lanes
}

func (r *route) outlook(of []pool.Outlook) []pool.Outlook {
	out := of[:0]
	for _, o := range of {
		if name, ok := r.limits[o.Budget]; ok {
			o.Budget = name
			out = append(out, o)
		}
	}
	return out
}

func (r *route) named(amounts []pool.Amount) []pool.Amount {
	out := amounts[:0]
	for _, a := range amounts {
		if name, ok := r.limits[a.Budget]; ok {
			out = append(out, pool.Amount{Budget: name, Units: a.Units})
		}
	}
	return out
}
