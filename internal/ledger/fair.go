// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"cmp"
	"slices"
)

// claimant is a tenant on one limit of an account; quantities are units a second.
type claimant struct {
	// guaranteed is its own, lendable what of that others may use while it does not, most bounds what it may use at all.
	guaranteed, lendable, most, weight float64
	// used is what it spends, waits that it wants more.
	used  float64
	waits bool

	share, borrowed, lent float64
}

// wants is what a claimant takes of a rate if it gets it.
func (c *claimant) wants(rate float64) float64 {
	if c.waits {
		return min(c.most, rate)
	}
	return min(c.used, c.most)
}

// divideFairly works out what each may count on if it asked for more than there is, while the others want what they do now:
// its own part, and of what is unclaimed its part by max-min in proportion to the weights.
func divideFairly(all []*claimant, rate float64) {
	order := slices.Clone(all)
	over := func(c *claimant) float64 { return max(0, c.wants(rate)-c.guaranteed) / c.weight }
	slices.SortFunc(order, func(a, b *claimant) int { return cmp.Compare(over(a), over(b)) })
	free := rate
	for _, c := range all {
		free -= c.keeps(rate)
	}
	for _, c := range all {
		left, weights := free+c.keeps(rate)-c.guaranteed, 0.0
		for _, other := range order {
			weights += other.weight
		}
		level := max(0, left) / weights
		for _, other := range order {
			if other == c {
				continue
			}
			if over(other) >= level {
				break
			}
			left -= over(other) * other.weight
			weights -= other.weight
			level = max(0, left) / weights
		}
		c.share = min(c.guaranteed+level*c.weight, c.most, rate)
	}
	lend(all, rate)
}

// keeps is what of its guarantee a claimant uses, or does not lend.
func (c *claimant) keeps(rate float64) float64 {
	used := min(c.wants(rate), c.guaranteed)
	return used + (c.guaranteed-used)*(1-c.lendable)
}

// lend says who has what of whom: what is nobody's own is used first.
func lend(all []*claimant, rate float64) {
	nobodys, borrowed, idle := rate, 0.0, 0.0
	for _, c := range all {
		c.borrowed = max(0, c.used-c.guaranteed)
		nobodys -= c.guaranteed
		borrowed += c.borrowed
		idle += c.idle()
	}
	if idle <= 0 {
		return
	}
	part := min(1, max(0, borrowed-max(0, nobodys))/idle)
	for _, c := range all {
		c.lent = c.idle() * part
	}
}

func (c *claimant) idle() float64 { return max(0, c.guaranteed-c.used) * c.lendable }
