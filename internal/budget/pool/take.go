// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

// Taken is what one call took. It is to be settled once.
type Taken struct {
	cost []Amount
	safe bool
}

// Take takes a cost, on all its budgets or none. Budgets that are not shared do not limit it.
func (h *Holder) Take(cost []Amount, now time.Time) (Taken, bool) {
	h.tick(now)
	for _, c := range cost {
		i, ok := h.byName[c.Budget]
		if ok && h.balance(&h.pockets[i]) < clean(c.Units) {
			h.news = h.news || h.leased() && h.hungry(c)
			return Taken{}, false
		}
	}
	t := Taken{cost: append([]Amount(nil), cost...), safe: !h.leased()}
	for _, c := range cost {
		if i, ok := h.byName[c.Budget]; ok {
			h.charge(i, clean(c.Units), t.safe)
		}
	}
	return t, !h.draining
}

// hungry says whether a call lacks something now, where the last report said that nothing was needed.
func (h *Holder) hungry(c Amount) bool {
	k := &h.pockets[h.byName[c.Budget]]
	return k.spare >= 0
}

func (h *Holder) charge(i int, units float64, safe bool) {
	k := &h.pockets[i]
	switch {
	case k.Kind == budget.Slots:
		k.inUse += units
		return
	case safe:
		k.safe -= units
		return
	}
	k.spent += units
	if k.granted() < k.low {
		h.news, k.low = true, 0
	}
}

// Settle ends what a call took: it charges what was really spent, and gives slots back. Of a budget that actual does
// not name what was taken was spent.
func (h *Holder) Settle(t *Taken, actual []Amount, now time.Time) {
	h.tick(now)
	for _, c := range t.cost {
		i, ok := h.byName[c.Budget]
		if !ok {
			continue
		}
		if k := &h.pockets[i]; k.Kind == budget.Slots {
			h.use(k, -clean(c.Units))
			continue
		}
		for _, a := range actual {
			if a.Budget == c.Budget {
				h.correct(i, clean(a.Units)-clean(c.Units), t.safe)
				break
			}
		}
	}
	t.cost = nil
}

// Charge charges more than a call took, or less if it is below zero: for owners that count what they take themselves.
func (h *Holder) Charge(name string, more float64, now time.Time) {
	h.tick(now)
	if i, ok := h.byName[name]; ok {
		h.correct(i, more, !h.leased())
	}
}

// correct charges a difference. What comes back may be spent again at once only as far as the pool was not told that it
// was spent: else the pool has refilled it already, and gets it back.
func (h *Holder) correct(i int, more float64, safe bool) {
	k := &h.pockets[i]
	if more > 0 || safe || k.Kind == budget.Slots {
		if k.Kind == budget.Slots {
			h.use(k, more)
			return
		}
		if safe {
			k.safe = min(k.safe-more, k.SafeBurst)
			return
		}
		h.charge(i, more, false)
		return
	}
	back := -more
	own := min(back, max(0, k.spent-k.said))
	k.spent -= own
	k.refunded += back - own
}

// use takes slots, or gives them back. What the holder may keep no longer others wait for.
func (h *Holder) use(k *pocket, more float64) {
	k.inUse = max(0, k.inUse+more)
	if more < 0 && h.leased() && k.own()+k.total-k.returned > max(k.mayKeep(), k.inUse) {
		h.news = true
	}
}
