// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"slices"

	"github.com/headgate-dev/headgate/internal/budget"
)

// A claim that was admitted while no more may be outstanding is parked until a larger bound is published. It keeps what it was
// admitted with, which is part of P: given back it would be lent, and its lane would begin anew to collect.

// exceeding finds out whether more would be outstanding than a next leader assumes, and has that be published.
func (p *Pool) exceeding(c *claim) bool {
	exceeds := false
	c.each(func(b *purse, u float64) { exceeds = p.excessive(b, u) || exceeds })
	return exceeds
}

// excessive finds a budget of which more would be outstanding than that.
func (p *Pool) excessive(b *purse, u float64) bool {
	if b.Kind != budget.Continuous || b.held+b.unknown+u <= b.most {
		return false
	}
	b.wanted = max(b.wanted, min(b.held+b.unknown+u, b.largest()))
	return b.wanted > b.most
}

// each calls do with what the claim's call takes of budgets and of their shadows.
func (c *claim) each(do func(b *purse, u float64)) {
	for i, u := range c.units {
		if u <= 0 {
			continue
		}
		do(c.account.books[i].purse, u)
		for _, s := range c.charged[i] {
			do(s, u)
		}
	}
}

func (p *Pool) park(c *claim) {
	c.parked = true
	p.parked = append(p.parked, c)
	c.each(func(b *purse, u float64) {
		// The scheduler has it no longer.
		b.kept += u
		p.touch(b)
	})
}

// unkeep ends what is kept for a parked claim.
func (p *Pool) unkeep(c *claim) {
	c.parked = false
	c.each(func(b *purse, u float64) {
		p.touch(b)
		b.kept = max(0, b.kept-u)
	})
}

// regrant grants the parked claims that may be outstanding by now.
func (p *Pool) regrant() {
	parked := p.parked
	p.parked = nil
	for _, c := range parked {
		if p.exceeding(c) {
			p.parked = append(p.parked, c)
			continue
		}
		p.unkeep(c)
		p.give(c)
		p.queue(c)
	}
}

// unpark gives back what a claim was admitted with.
func (p *Pool) unpark(c *claim) {
	p.parked = slices.DeleteFunc(p.parked, func(o *claim) bool { return o == c })
	p.unkeep(c)
	c.each(func(b *purse, u float64) { b.lift += u })
	p.sched.Settle(c.call, nil, p.now)
}
