// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import "time"

// Receive takes in a grant. Late, doubled and foreign ones change nothing.
func (h *Holder) Receive(g *Grant, now time.Time) {
	h.tick(now)
	if g.Holder != h.cfg.Name || g.Incarnation != h.cfg.Incarnation || g.Term.before(h.term) || h.draining {
		return
	}
	if len(g.Totals) > maxBudgets || len(g.Lanes) > maxLanes || len(g.Expected) > maxBudgets {
		return
	}
	if h.term.before(g.Term) {
		h.begin(g.Term)
	}
	for _, t := range g.Totals {
		if i, ok := h.byName[t.Budget]; ok {
			k := &h.pockets[i]
			k.total = max(k.total, clean(t.Units))
		}
	}
	for _, l := range g.Lanes {
		h.lane(&l)
	}
	if g.Stamp > h.stamp {
		h.stamp, h.recall = g.Stamp, g.Recall
		for i := range g.Lanes {
			h.outlooks.hear(&g.Lanes[i], h.now)
		}
		for _, e := range g.Expected {
			if i, ok := h.byName[e.Budget]; ok {
				h.pockets[i].expected, h.pockets[i].bound = clean(e.Units), true
			}
		}
		h.news = h.news || g.Recall && h.told.Before(h.now.Add(-h.cfg.Interval/2))
	}
	if s := h.sent[g.Ack%remembered]; s.seq == g.Ack && g.Ack > 0 {
		h.renew(s.at)
	}
}

// begin starts a term: what earlier ones granted is void, for what of it the new leader knows of is in its totals.
func (h *Holder) begin(t Term) {
	h.term, h.stamp, h.news = t, 0, true
	clear(h.bulk)
	clear(h.lots)
	clear(h.outlooks)
	for i := range h.pockets {
		k := &h.pockets[i]
		k.total, k.spare, k.bound = 0, 0, false
		clear(k.lanes)
	}
}

func (h *Holder) lane(l *LaneTotal) {
	if h.bulk[l.Lane] < l.Bulk {
		h.bulk[l.Lane], h.lots[l.Lane] = l.Bulk, h.now
	}
	for _, u := range l.Units {
		if i, ok := h.byName[u.Budget]; ok {
			k := &h.pockets[i]
			k.lanes[l.Lane] = max(k.lanes[l.Lane], clean(u.Units))
		}
	}
}

// renew extends the lease: until a TTL after a report that was answered was sent.
func (h *Holder) renew(sent time.Time) {
	until := sent.Add(h.cfg.TTL)
	if !until.After(h.lease) {
		return
	}
	h.lease = until
	if h.leased() {
		for i := range h.pockets {
			h.pockets[i].safe = min(h.pockets[i].safe, 0)
		}
	}
}
