// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

// An external budget has a store elsewhere, which several pools draw on: P rises by what was drawn alone, and what nobody
// needs goes back. All that holders of the pool can ever be granted was deposited.

// Needs is what waits for external budgets.
type Needs struct {
	// Small is what small calls need beyond what is here, at most two intervals' refill of each budget.
	Small []Amount
	// Bulk are large calls in the order in which they came, each with the whole of its cost less what is here.
	Bulk [][]Amount
}

// Deposit brings into external budgets what their store gave. What does not fit in is left: it is to go back. Lanes have
// their shares of it as of a refill.
func (p *Pool) Deposit(amounts []Amount, now time.Time) (left []Amount) {
	p.tick(now)
	for _, a := range amounts {
		units := clean(a.Units)
		if b, ok := p.byName[a.Budget]; ok && b.External {
			p.touch(b)
			in := min(units, max(0, p.room(b)-p.level(b)))
			p.sched.Pour(b.id, in, p.now)
			b.deposited += in
			units -= in
		}
		if units > 0 {
			left = append(left, Amount{a.Budget, units})
		}
	}
	p.flush()
	return left
}

// Needs says what is to be drawn on the store for external budgets.
func (p *Pool) Needs(now time.Time) Needs {
	p.tick(now)
	p.flush()
	var out Needs
	have := map[*purse]float64{}
	for _, b := range p.purses {
		if b.External {
			have[b] = p.sched.Unclaimed(b.id, p.now)
		}
	}
	for _, c := range p.bulks {
		if lack := c.lacks(have); len(lack) > 0 {
			out.Bulk = append(out.Bulk, lack)
		}
	}
	for _, b := range p.purses {
		if !b.External {
			continue
		}
		most := max(2*b.Rate*p.cfg.Interval.Seconds(), b.SmallCall)
		if lack := min(b.waiting()-have[b], most); lack > trifle*b.Capacity {
			out.Small = append(out.Small, Amount{b.Name, lack})
		}
	}
	return out
}

// lacks is what a large call needs beyond what there is, of which it takes its part.
func (c *claim) lacks(have map[*purse]float64) []Amount {
	var out []Amount
	for i, u := range c.units {
		b := c.account.books[i].purse
		if u <= 0 || !b.External {
			continue
		}
		if lack := u - max(0, have[b]); lack > trifle*b.Capacity {
			out = append(out, Amount{b.Name, lack})
		}
		have[b] -= min(u, max(0, have[b]))
	}
	return out
}

// waiting is what small calls wait for.
func (b *purse) waiting() float64 {
	sum := 0.0
	for _, k := range b.users {
		sum += k.wanted()
	}
	return sum
}

// Surplus takes out of external budgets what nobody waits for, but what the rate brings in the time to keep. It goes back to
// the store.
func (p *Pool) Surplus(now time.Time, keep time.Duration) []Amount {
	p.tick(now)
	p.flush()
	var out []Amount
	for _, b := range p.purses {
		if !b.External || b.Kind != budget.Continuous {
			continue
		}
		needed := b.waiting() + b.Rate*max(0, keep.Seconds())
		for _, c := range p.bulks {
			for i, u := range c.units {
				if c.account.books[i].purse == b {
					needed += u
				}
			}
		}
		level := p.level(b)
		if units := level - needed; units > trifle*b.Capacity {
			p.touch(b)
			p.sched.Feed(b.id, -1, -units, p.now)
			b.withdrawn += units
			out = append(out, Amount{b.Name, units})
		}
	}
	p.flush()
	return out
}
