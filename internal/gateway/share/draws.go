// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package share

import (
	"math"

	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/gateway/proxy"
	"github.com/headgate-dev/headgate/internal/wire"
)

// A draw is a pool.Report on the wire, a grant is a pool.Grant. Who holds, and which incarnation reports, the stream says.

// maxName bounds the names of limits and lanes.
const maxName = 256

// mostUnits keeps sums far from infinity, as a pool does.
const mostUnits = 1e18

func wireDraws(draws []proxy.Draw) []*wire.Draw {
	out := make([]*wire.Draw, 0, len(draws))
	for i := range draws {
		out = append(out, wireDraw(draws[i].Policy, draws[i].Provider, &draws[i].Report))
	}
	return out
}

// wireDraw is a report as it is sent.
func wireDraw(policy, provider string, r *pool.Report) *wire.Draw {
	d := &wire.Draw{
		Policy: policy, Provider: provider, Sequence: r.Sequence,
		Term:  &wire.Term{Epoch: r.Term.Epoch, Opening: r.Term.Opening},
		Stamp: r.Stamp, LeaseNanos: int64(r.Lease), Seen: wireAmounts(r.Seen), Draining: r.Draining,
	}
	for _, c := range r.Counts[:min(len(r.Counts), wire.MaxLimits)] {
		d.Counts = append(d.Counts, &wire.Count{
			Limit: c.Budget, Spent: c.Spent, Returned: c.Returned, Refunded: c.Refunded, Held: c.Held,
		})
	}
	for _, w := range r.Wants[:min(len(r.Wants), wire.MaxWants)] {
		d.Wants = append(d.Wants, &wire.Want{Lane: w.Lane, Bulk: w.Bulk, Units: wireAmounts(w.Units)})
	}
	return d
}

func wireAmounts(in []pool.Amount) []*wire.Amount {
	out := make([]*wire.Amount, 0, min(len(in), wire.MaxLimits))
	for _, a := range in[:min(len(in), wire.MaxLimits)] {
		out = append(out, &wire.Amount{Limit: a.Budget, Units: a.Units})
	}
	return out
}

// poolGrant is a grant as it was received; false if it has more than it may have.
func poolGrant(g *wire.Grant) (pool.Grant, bool) {
	out := pool.Grant{
		Incarnation: g.GetIncarnation(), Term: pool.Term{Epoch: g.GetTerm().GetEpoch(), Opening: g.GetTerm().GetOpening()},
		Ack: g.GetAck(), Stamp: max(g.GetStamp(), 0), Recall: g.GetRecall(),
	}
	ok := len(g.GetLanes()) <= wire.MaxLanes
	take := func(in []*wire.Amount) []pool.Amount {
		amounts, good := poolAmounts(in)
		ok = ok && good
		return amounts
	}
	out.Totals, out.Expected = take(g.GetTotals()), take(g.GetExpected())
	for _, l := range g.GetLanes()[:min(len(g.GetLanes()), wire.MaxLanes)] {
		if len(l.GetLane()) > maxName {
			return pool.Grant{}, false
		}
		outlook, good := poolOutlook(l.GetOutlook())
		ok = ok && good
		out.Lanes = append(out.Lanes, pool.LaneTotal{
			Lane: l.GetLane(), Bulk: l.GetBulk(), Units: take(l.GetUnits()), Outlook: outlook, Asked: l.GetAsked(),
		})
	}
	return out, ok
}

func poolAmounts(in []*wire.Amount) ([]pool.Amount, bool) {
	if len(in) > wire.MaxLimits {
		return nil, false
	}
	out := make([]pool.Amount, 0, len(in))
	for _, a := range in {
		if len(a.GetLimit()) > maxName {
			return nil, false
		}
		out = append(out, pool.Amount{Budget: a.GetLimit(), Units: sane(a.GetUnits())})
	}
	return out, true
}

func poolOutlook(in []*wire.Outlook) (out []pool.Outlook, ok bool) {
	if len(in) > wire.MaxLimits {
		return nil, false
	}
	for _, o := range in {
		if len(o.GetLimit()) > maxName {
			return nil, false
		}
		spare := sane(o.GetSpare()) - sane(-o.GetSpare())
		out = append(out, pool.Outlook{Budget: o.GetLimit(), Spare: spare, PerSecond: sane(o.GetPerSecond())})
	}
	return out, true
}

// sane makes a number from the wire harmless: what means nothing is nothing.
func sane(units float64) float64 {
	if math.IsNaN(units) || units < 0 {
		return 0
	}
	return min(units, mostUnits)
}
