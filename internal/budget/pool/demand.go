// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"math"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

// Demand is what a lane of a holder needs.
type Demand struct {
	Lane string
	// Small is what its small calls need until the next report and its answer, two intervals; of slots, how many are
	// to be in use.
	Small []Amount
	// Bulk numbers the large call that waits first, growing; 0 is none. Cost is all it takes.
	Bulk uint64
	Cost []Amount
}

// Report says what was spent and what is needed. What is not needed goes back, at the second report in a row that does
// not need it, or at once when it is called for.
func (h *Holder) Report(demands []Demand, now time.Time) Report {
	h.tick(now)
	demands = demands[:min(len(demands), maxLanes)]
	h.seq++
	h.sent[h.seq%remembered] = sending{h.seq, h.now}
	h.told, h.news = h.now, false
	r := Report{
		Holder: h.cfg.Name, Incarnation: h.cfg.Incarnation, Sequence: h.seq,
		Term: h.term, Stamp: h.stamp, Draining: h.draining,
	}
	if h.leased() {
		r.Lease = h.lease.Sub(h.now)
	}
	wants := make([]Want, len(demands))
	for i, d := range demands {
		wants[i].Lane = d.Lane
	}
	for i := range h.pockets {
		h.need(&h.pockets[i], demands, wants)
		r.Counts = append(r.Counts, h.count(&h.pockets[i]))
	}
	for i, w := range wants {
		if len(w.Units) > 0 {
			r.Wants = append(r.Wants, w)
		}
		if d := demands[i]; d.Bulk > h.bulk[d.Lane] {
			r.Wants = append(r.Wants, Want{Lane: d.Lane, Bulk: d.Bulk, Units: rounded(d.Cost)})
		}
	}
	return r
}

// need works out what is wanted of one budget, or gives back what is not.
func (h *Holder) need(k *pocket, demands []Demand, wants []Want) {
	smalls, kept := 0.0, 0.0
	for _, d := range demands {
		smalls += clean(units(d.Small, k.Name))
		if d.Bulk > 0 && d.Bulk == h.bulk[d.Lane] && k.Kind == budget.Continuous && h.now.Before(h.lots[d.Lane].Add(h.cfg.TTL)) {
			// It was granted, and has not gone yet. What has not gone within a TTL is not kept from the others.
			kept += clean(units(d.Cost, k.Name))
		}
	}
	have := k.granted()
	if k.Kind == budget.Slots {
		have = k.own() + k.total - k.returned
		smalls = max(math.Ceil(smalls), k.inUse)
	} else if !h.leased() {
		// What was granted is void by the time that something is granted anew.
		have = min(have, 0)
	}
	spare := have - kept - smalls
	if back := h.giveBack(k, spare); k.Kind == budget.Slots {
		have, spare = have-back, spare-back
	}
	k.spare = spare
	k.low = max(0, k.granted()-kept) / 2
	lack := min(-spare, smalls+max(0, -have))
	if lack <= 0 {
		return
	}
	parts, asked := 0.0, 0.0
	for i, d := range demands {
		part := 1 / float64(len(demands))
		if smalls > 0 {
			part = clean(units(d.Small, k.Name)) / smalls
		}
		if k.Kind == budget.Slots {
			// They are whole.
			parts += part
			whole := math.Round(lack*parts) - asked
			asked += whole
			part = whole / lack
		}
		if part > 0 {
			wants[i].Units = append(wants[i].Units, Amount{k.Name, k.lanes[d.Lane] + lack*part})
		}
	}
}

// giveBack returns what was not needed twice in a row, and says how much.
func (h *Holder) giveBack(k *pocket, spare float64) float64 {
	back := spare
	if !h.recall {
		back = min(spare, k.spare)
	}
	back = min(back, k.granted())
	if k.Kind == budget.Slots {
		// Of what it may keep no longer all goes back that is not in use.
		back = max(back, k.own()+k.total-k.returned-k.mayKeep())
		back = math.Floor(min(back, k.total-k.returned-max(0, k.inUse-k.own())))
	}
	if back <= 0 || !h.leased() {
		return 0
	}
	k.returned += back
	return back
}

func (h *Holder) count(k *pocket) Count {
	k.said = max(k.said, k.spent)
	c := Count{Budget: k.Name, Spent: k.said, Returned: k.returned, Refunded: k.refunded}
	switch {
	case k.Kind != budget.Slots:
		c.Held = k.granted()
	case h.leased():
		c.Held = max(0, k.total-k.returned)
	default:
		c.Held = max(0, k.inUse-k.own())
	}
	return c
}

// Drain ends the holder: it spends nothing from now on, and its last report gives everything back. Slots of calls that
// are still in flight are not given back.
func (h *Holder) Drain(now time.Time) Report {
	h.tick(now)
	for i := range h.pockets {
		k := &h.pockets[i]
		back := k.granted()
		if k.Kind == budget.Slots {
			back = k.total - k.returned - max(0, k.inUse-k.own())
		}
		k.returned += max(0, back)
	}
	h.draining = true
	return h.Report(nil, now)
}

// Due is when a report is due: each interval, and soon when a new term began, something is lacking that was not, or
// half of what there was is spent.
func (h *Holder) Due(now time.Time) time.Time {
	h.tick(now)
	switch {
	case h.seq == 0:
		return h.now
	case h.news:
		return h.told.Add(h.cfg.Interval / 10)
	}
	return h.told.Add(h.cfg.Interval)
}
