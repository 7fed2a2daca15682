// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"math"

	"github.com/headgate-dev/headgate/internal/budget"
)

// A holder that rested asks for the call that waits, and cannot know of those that follow it at once: they would wait until the
// next report is due. So where a small claim is granted without waiting, nothing else waits, and more than half of what there can be
// is there, its holder is granted more of the same, as long as it has no more of it than it might ask for: a crash costs no more
// than before. What it does not need goes back by the second report after it.

// aheadPart is which part of a capacity all holders together can be granted so.
const aheadPart = 0.25

// ahead grants more of what a claim's last slice was of.
func (p *Pool) ahead(c *claim) {
	if c.class != small || p.asking+len(p.parked)+len(p.putOffs) > 0 {
		return
	}
	times := p.spareTimes(c)
	if times <= 0 {
		return
	}
	for i := range c.units {
		c.units[i] *= times
	}
	c.call = &budget.Call{Lane: p.laneOf(c.lane.name), Owner: c}
	c.cost()
	if p.sched.Submit(c.call, p.now).State == budget.Admitted {
		p.give(c)
		return
	}
	p.sched.Cancel(c.call, p.now)
}

// spareTimes is how many times a claim's slice may be granted ahead: in proportion, so that what is granted goes together.
func (p *Pool) spareTimes(c *claim) float64 {
	times := math.Inf(1)
	for i, u := range c.units {
		if u <= 0 {
			continue
		}
		k := c.account.books[i]
		b := k.purse
		most := min(aheadPart*b.Capacity/float64(b.holders(p.cfg.MaxHolders)), p.atMost(b))
		times = min(times, (most-max(0, k.outstanding()))/u, p.spare(b)/u)
		for _, s := range c.charged[i] {
			times = min(times, p.spare(s)/u)
		}
	}
	if math.IsInf(times, 1) {
		return 0
	}
	return times
}

// spare is what of a level is beyond half of its room, and half of what may be outstanding as things are published: a larger call
// need not wait for that.
func (p *Pool) spare(b *purse) float64 {
	if b.External {
		return 0
	}
	return min(p.level(b)-p.room(b)/2, (b.most-b.held-b.unknown)/2)
}
