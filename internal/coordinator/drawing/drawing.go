// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package drawing

import (
	"time"

	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/wire"
)

// Names are the limits and lanes that a route of the plan has.
type Names struct{ Limits, Lanes map[string]bool }

// Report is a draw as the pool reads it. Who holds is the stream's identity, and names that the plan's route does
// not have are left out: whatever a gateway invents ends here. What the numbers are, the pool judges.
func Report(d *wire.Draw, names Names, holder string, incarnation uint64) *pool.Report {
	report := &pool.Report{
		Holder: holder, Incarnation: incarnation, Sequence: d.GetSequence(),
		Term:  pool.Term{Epoch: d.GetTerm().GetEpoch(), Opening: d.GetTerm().GetOpening()},
		Stamp: d.GetStamp(), Lease: time.Duration(d.GetLeaseNanos()), Draining: d.GetDraining(),
		Seen: names.amounts(d.GetSeen()),
	}
	for _, c := range d.GetCounts() {
		if name := c.GetLimit(); names.Limits[name] {
			report.Counts = append(report.Counts, pool.Count{
				Budget: name, Spent: c.GetSpent(), Returned: c.GetReturned(), Refunded: c.GetRefunded(), Held: c.GetHeld(),
			})
		}
	}
	for _, w := range d.GetWants() {
		if name := w.GetLane(); names.Lanes[name] {
			report.Wants = append(report.Wants, pool.Want{Lane: name, Bulk: w.GetBulk(), Units: names.amounts(w.GetUnits())})
		}
	}
	return report
}

// amounts are those of the route's limits.
func (n Names) amounts(in []*wire.Amount) (out []pool.Amount) {
	for _, a := range in {
		if name := a.GetLimit(); n.Limits[name] {
			out = append(out, pool.Amount{Budget: name, Units: a.GetUnits()})
		}
	}
	return out
}

// Grant is a grant as it is sent.
func Grant(policy, provider string, g *pool.Grant) *wire.Grant {
	out := &wire.Grant{
		Policy: policy, Provider: provider, Incarnation: g.Incarnation,
		Term: &wire.Term{Epoch: g.Term.Epoch, Opening: g.Term.Opening},
		Ack:  g.Ack, Stamp: g.Stamp, Recall: g.Recall, Totals: amountsOf(g.Totals), Expected: amountsOf(g.Expected),
	}
	for _, l := range g.Lanes {
		out.Lanes = append(out.Lanes, &wire.LaneTotal{
			Lane: l.Lane, Units: amountsOf(l.Units), Bulk: l.Bulk, Outlook: outlookOf(l.Outlook), Asked: l.Asked,
		})
	}
	return out
}

func outlookOf(in []pool.Outlook) []*wire.Outlook {
	out := make([]*wire.Outlook, 0, len(in))
	for _, o := range in {
		out = append(out, &wire.Outlook{Limit: o.Budget, Spare: o.Spare, PerSecond: o.PerSecond})
	}
	return out
}

func amountsOf(in []pool.Amount) []*wire.Amount {
	out := make([]*wire.Amount, 0, len(in))
	for _, a := range in {
		out = append(out, &wire.Amount{Limit: a.Budget, Units: a.Units})
	}
	return out
}

// WithinBounds says whether a message of draws has no more than it may.
func WithinBounds(draws *wire.Draws) bool {
	if len(draws.GetDraws()) > wire.MaxRoutes {
		return false
	}
	for _, d := range draws.GetDraws() {
		if len(d.GetCounts()) > wire.MaxLimits || len(d.GetSeen()) > wire.MaxLimits || len(d.GetWants()) > wire.MaxWants {
			return false
		}
		for _, w := range d.GetWants() {
			if len(w.GetUnits()) > wire.MaxLimits {
				return false
			}
		}
	}
	return true
}
