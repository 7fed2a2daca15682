// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package drawer

import (
	"time"

	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/wire"
)

// report is what a small gateway reports each second.
func (d *Drawer) report(now time.Time, draining bool) *wire.Up {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sequence++
	route := &wire.RouteReport{
		Policy: d.opts.Policy, Provider: d.opts.Provider, Generation: 1, Calls: d.calls, Sends: d.calls,
		Lanes: []*wire.LaneReport{{
			Name: d.opts.Lane, Offered: d.calls, Sent: d.calls, Queued: uint64(d.waiting),
			WaitBuckets: make([]uint64, len(wire.WaitBoundsMillis)+1),
		}},
	}
	for _, l := range d.limits {
		route.Limits = append(route.Limits, &wire.LimitReport{
			Name: l.Name, Level: d.holder.Balance(l.Name, now), Capacity: float64(l.Burst), Spent: d.spent[l.Name], Offered: d.spent[l.Name],
		})
	}
	report := &wire.Report{
		Sequence: d.sequence, AcknowledgedRevision: d.revision, Draining: draining,
		UptimeMillis: uint64(max(now.Sub(d.began).Milliseconds(), 1)),
	}
	if len(d.limits) > 0 {
		report.Routes = append(report.Routes, route)
	}
	return &wire.Up{Message: &wire.Up_Report{Report: report}}
}

func (d *Drawer) drawing(r pool.Report) *wire.Up {
	return &wire.Up{Message: &wire.Up_Draws{Draws: &wire.Draws{Draws: []*wire.Draw{ToWire(d.opts.Policy, d.opts.Provider, &r)}}}}
}

// ToWire is a pool's report as it is sent.
func ToWire(policy, provider string, r *pool.Report) *wire.Draw {
	out := &wire.Draw{
		Policy: policy, Provider: provider, Sequence: r.Sequence,
		Term:  &wire.Term{Epoch: r.Term.Epoch, Opening: r.Term.Opening},
		Stamp: r.Stamp, LeaseNanos: int64(r.Lease), Seen: amounts(r.Seen), Draining: r.Draining,
	}
	for _, c := range r.Counts {
		out.Counts = append(out.Counts, &wire.Count{
			Limit: c.Budget, Spent: c.Spent, Returned: c.Returned, Refunded: c.Refunded, Held: c.Held,
		})
	}
	for _, w := range r.Wants {
		out.Wants = append(out.Wants, &wire.Want{Lane: w.Lane, Bulk: w.Bulk, Units: amounts(w.Units)})
	}
	return out
}

func amounts(in []pool.Amount) (out []*wire.Amount) {
	for _, a := range in {
		out = append(out, &wire.Amount{Limit: a.Budget, Units: a.Units})
	}
	return out
}

func fromWire(g *wire.Grant) pool.Grant {
	out := pool.Grant{
		Incarnation: g.GetIncarnation(), Term: pool.Term{Epoch: g.GetTerm().GetEpoch(), Opening: g.GetTerm().GetOpening()},
		Ack: g.GetAck(), Stamp: g.GetStamp(), Recall: g.GetRecall(), Totals: units(g.GetTotals()), Expected: units(g.GetExpected()),
	}
	for _, l := range g.GetLanes() {
		t := pool.LaneTotal{Lane: l.GetLane(), Units: units(l.GetUnits()), Bulk: l.GetBulk(), Asked: l.GetAsked()}
		for _, o := range l.GetOutlook() {
			t.Outlook = append(t.Outlook, pool.Outlook{Budget: o.GetLimit(), Spare: o.GetSpare(), PerSecond: o.GetPerSecond()})
		}
		out.Lanes = append(out.Lanes, t)
	}
	return out
}

func units(in []*wire.Amount) (out []pool.Amount) {
	for _, a := range in {
		out = append(out, pool.Amount{Budget: a.GetLimit(), Units: a.GetUnits()})
	}
	return out
}
