// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"math"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

// Apply puts an edited configuration in force. No edit refills: a smaller capacity scales the level, a larger one keeps it,
// and what holders have stays theirs: it counts against the new capacity. Lanes are matched by name, what waits goes on
// waiting. Budgets and shadows that come begin with nothing, but what Resume knows of them, and those that go keep their books
// for when they come back. Interval and TTL stay what they are: holders count with them. False means that a budget changed its
// kind, or that there is no room beside those that went, and that nothing was done: another leader is to begin.
//
// Holders are to be told their safe shares (Holder.Apply). Those that hear nothing now may go on with the old ones.
func (p *Pool) Apply(cfg Config, now time.Time) bool {
	p.tick(now)
	cfg = cfg.withDefaults()
	if !p.fits(&cfg) {
		return false
	}
	p.putOffShrinking(&cfg)
	p.touchAll()
	p.flush()
	p.touchAll()
	cfg.Interval, cfg.TTL = p.cfg.Interval, p.cfg.TTL
	p.cfg = cfg
	p.refurnish()
	p.index()
	p.supplies = nil
	p.recount()
	for _, a := range p.list {
		if len(a.lanes) > 0 {
			a.group = p.groupOf[p.laneOf(a.lanes[0].name)]
		}
	}
	for _, a := range p.list {
		for _, c := range a.claims {
			c.shrink()
		}
	}
	p.sched.Apply(p.schedule(), p.now)
	p.bind()
	p.touchAll()
	p.flush()
	return true
}

// putOffShrinking puts off what keeps something of a budget that shrinks, goes or comes back: its level is to be scaled as a whole, or
// to begin with nothing.
func (p *Pool) putOffShrinking(cfg *Config) {
	capacities := map[string]float64{}
	for _, b := range cfg.Budgets {
		capacities[b.Name] = b.Capacity
	}
	for _, s := range cfg.Shadows {
		capacities[s.Name] = clean(s.Capacity)
	}
	for _, b := range p.purses {
		if to, stays := capacities[b.Name]; b.retired || !stays || to < b.Capacity {
			p.cover(b, math.Inf(-1))
		}
	}
}

// shrink has a claim want, and its call ask for, no more than edited capacities: the scheduler takes no more, so no more may be
// granted. A call of more than a shadow has goes when that is full.
func (c *claim) shrink() {
	less := false
	for i, u := range c.units {
		b := c.account.books[i].purse
		if b.Kind == budget.Slots {
			continue
		}
		c.left[i], c.units[i] = min(c.left[i], b.Capacity), min(u, b.Capacity)
		less = less || c.units[i] < u
	}
	if c.queued && less {
		c.cost()
	}
}

// recount finds anew whom the shadows of edited lanes are charged by.
func (p *Pool) recount() {
	for _, h := range p.holders {
		if h.joined {
			p.count(h, -unit(h.known()), -unit(h.silent()))
			p.follow(h)
			p.count(h, unit(h.known()), unit(h.silent()))
		}
	}
}

// edit sets what follows from a budget's numbers, but its level.
func (p *Pool) edit(b *purse, to Budget) {
	if !b.published {
		b.most = to.Capacity
	}
	b.Budget = to
	b.wanted = min(b.wanted, b.largest())
	rate, burst := Safe(to, p.cfg.MaxHolders)
	if p.silentOf(b) > 0 {
		rate, burst = max(rate, b.safeRate), max(burst, b.safeBurst)
	}
	b.safeRate, b.safeBurst = rate, burst
}

// Apply puts edited safe shares in force. Budgets are matched by name; others are not begun.
func (h *Holder) Apply(budgets []HolderBudget, now time.Time) {
	h.tick(now)
	for _, b := range budgets {
		i, ok := h.byName[b.Name]
		if !ok || h.pockets[i].Kind != b.Kind {
			continue
		}
		k := &h.pockets[i]
		k.SafeRate, k.SafeBurst = clean(b.SafeRate), clean(b.SafeBurst)
		if k.Kind == budget.Continuous {
			k.safe = min(k.safe, k.SafeBurst)
		}
	}
}
