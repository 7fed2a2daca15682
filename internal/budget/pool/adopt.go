// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

// maxLeft bounds the budgets whose counters are remembered after they made room for others.
const maxLeft = 256

// left are the counters of a budget that a holder has no longer: they go on where they were when it comes back, for the
// pool takes them for cumulative.
type left struct {
	name                            string
	spent, said, returned, refunded float64
}

// Adopt makes these the holder's budgets: known ones have their safe shares edited, new ones begin with nothing, and of those
// that are not named what is left goes back with the next reports. outage is as in HolderConfig.
func (h *Holder) Adopt(budgets []HolderBudget, outage Outage, now time.Time) {
	h.tick(now)
	h.cfg.Outage = outage
	budgets = budgets[:min(len(budgets), maxBudgets)]
	h.Apply(budgets, now)
	for _, b := range budgets {
		if i, ok := h.byName[b.Name]; ok && h.pockets[i].Kind == b.Kind {
			continue
		} else if ok {
			h.replace(i, b)
		} else if i := h.room(budgets); i >= 0 {
			h.replace(i, b)
		}
	}
}

// room is the place of a new budget: one more, or that of the one with the least left among those that are not named.
func (h *Holder) room(budgets []HolderBudget) int {
	if len(h.pockets) < maxBudgets {
		h.pockets = append(h.pockets, pocket{})
		return len(h.pockets) - 1
	}
	found := -1
	for i := range h.pockets {
		named := slices.ContainsFunc(budgets, func(b HolderBudget) bool { return b.Name == h.pockets[i].Name })
		if !named && (found < 0 || h.pockets[i].granted() < h.pockets[found].granted()) {
			found = i
		}
	}
	return found
}

// replace begins a budget in a place.
func (h *Holder) replace(i int, b HolderBudget) {
	if k := &h.pockets[i]; k.Name != "" {
		if len(h.left) >= maxLeft {
			h.left = append(h.left[:0], h.left[1:]...)
		}
		h.left = append(h.left, left{k.Name, k.spent, k.said, k.returned, k.refunded})
		delete(h.byName, k.Name)
	}
	b.SafeRate, b.SafeBurst = clean(b.SafeRate), clean(b.SafeBurst)
	k := pocket{HolderBudget: b, lanes: map[string]float64{}}
	for j := len(h.left) - 1; j >= 0; j-- {
		if l := h.left[j]; l.name == b.Name {
			if b.Kind == budget.Continuous {
				k.spent, k.said, k.refunded = l.spent, l.said, l.refunded
			}
			k.returned = l.returned
			// What was granted comes with the next grant; until then there is nothing.
			k.total = k.spent + k.returned
			h.left = slices.Delete(h.left, j, j+1)
			break
		}
	}
	h.pockets[i], h.byName[b.Name] = k, i
	// What the pool may bring of it is not known before it has heard of it.
	h.news = true
}

// Lease is how long the holder may yet spend what it was granted, 0 without a lease.
func (h *Holder) Lease(now time.Time) time.Duration {
	h.tick(now)
	if !h.leased() {
		return 0
	}
	return h.lease.Sub(h.now)
}
