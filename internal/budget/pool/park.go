// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"slices"

	"github.com/headgate-dev/headgate/internal/budget"
)

// A claim that was admitted while no more may be outstanding is parked until a larger bound is published. It keeps what it was
// admitted with, which is part of P: given back it would be lent, and its lane would begin anew to collect. But what is granted is
// within P at that time: where P falls below what is kept, the newest of those that keep something are put off, and ask anew.

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
	p.bringBackKept(c)
	p.forgetUnparked()
}

// bringBackKept leaves P as it is: what was kept is in the levels again.
func (p *Pool) bringBackKept(c *claim) {
	p.unkeep(c)
	c.each(func(b *purse, u float64) { b.lift += u })
	p.sched.Settle(c.call, nil, p.now)
}

func (p *Pool) forgetUnparked() {
	p.parked = slices.DeleteFunc(p.parked, func(c *claim) bool { return !c.parked })
}

// pledged is what of a level is kept for a claim. A call that exceeds a shadow goes when that is full.
func (c *claim) pledged(of *purse) (sum float64) {
	c.each(func(b *purse, u float64) {
		if b == of {
			sum += min(u, b.Capacity)
		}
	})
	return sum
}

// cover puts off the newest claims that keep something of a budget, until P, which is to be this, suffices for the others. It
// says whether it had to.
func (p *Pool) cover(b *purse, level float64) bool {
	if b.kept == 0 {
		return false
	}
	lacking := -level - trifle*(b.Capacity+b.Rate)
	for _, c := range p.parked {
		lacking += c.pledged(b)
	}
	short := lacking > 0
	for i := len(p.parked) - 1; i >= 0 && lacking > 0; i-- {
		if c := p.parked[i]; c.pledged(b) > 0 {
			lacking -= c.pledged(b)
			p.putOff(c)
		}
	}
	p.forgetUnparked()
	return short
}

// putOff has a parked claim ask anew with the next Advance: while budgets are being brought up to date nothing is admitted.
func (p *Pool) putOff(c *claim) {
	p.bringBackKept(c)
	if !c.putOff {
		c.putOff = true
		p.putOffs = append(p.putOffs, c)
	}
}

// askAnew queues the claims that were put off.
func (p *Pool) askAnew() {
	for i, c := range p.putOffs {
		p.putOffs[i], c.putOff = nil, false
		if p.accounts[c.account.key] == c.account && !c.queued && !c.parked {
			p.queue(c)
		}
	}
	p.putOffs = p.putOffs[:0]
}
