// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

// An external budget has a store elsewhere, which several pools draw on: P rises by what was drawn alone, and what nobody
// needs goes back. All that holders of the pool can ever be granted was deposited.

// Needs is what waits for external budgets, and their external shadows.
type Needs struct {
	// Small is what small calls need beyond what is here, at most two intervals' refill of each budget.
	Small []Amount
	// Bulk are large calls in the order in which they came, each with the whole of its cost less what is here. Of says
	// whose each is.
	Bulk [][]Amount
	Of   []Claimant
	// Slots are wanted beside those that the pool has.
	Slots []Amount
}

// Claimant is who waits for a large call, and by budget which share of it is that lane's.
type Claimant struct {
	Class, Lane string
	// Key names the lane over all pools that draw on the store.
	Key    string
	Shares []float64
}

// draws says that a store brings what is spent of it.
func (b *purse) draws() bool { return b.External && b.Kind == budget.Continuous }

// fitting is how much of what a store gives has room.
func (p *Pool) fitting(b *purse, units float64) float64 {
	return min(units, max(0, p.room(b)-p.level(b)))
}

// Needs says what is to be drawn on the store for external budgets.
func (p *Pool) Needs(now time.Time) Needs {
	p.tick(now)
	p.flush()
	var out Needs
	have := map[*purse]float64{}
	for _, b := range p.purses {
		if b.draws() {
			have[b] = p.sched.Unclaimed(b.id, p.now)
		}
	}
	for _, c := range p.bulks {
		if lack, shares := p.lacks(c, have); len(lack) > 0 {
			out.Bulk = append(out.Bulk, lack)
			lane := p.laneOf(c.lane.name)
			out.Of = append(out.Of, Claimant{Class: p.classOf(lane), Lane: p.cfg.Lanes[lane].Name, Key: p.cfg.Lanes[lane].Name, Shares: shares})
		}
	}
	for _, b := range p.purses {
		if !b.draws() {
			if n := p.slotsLacking(b); n > 0 {
				out.Slots = append(out.Slots, Amount{b.Name, n})
			}
			continue
		}
		if lack := min(p.waiting(b)-have[b], p.atMost(b)); lack > trifle*b.Capacity {
			out.Small = append(out.Small, Amount{b.Name, lack})
		}
	}
	return out
}

// lacks is what a large call needs beyond what there is, of which it takes its part, and its lane's shares of that.
func (p *Pool) lacks(c *claim, have map[*purse]float64) (out []Amount, shares []float64) {
	lane := p.laneOf(c.lane.name)
	add := func(b *purse, u, share float64) {
		if !b.draws() {
			return
		}
		u = min(u, b.Capacity)
		if lack := u - max(0, have[b]); lack > trifle*b.Capacity {
			out, shares = append(out, Amount{b.Name, lack}), append(shares, share)
		}
		have[b] -= min(u, max(0, have[b]))
	}
	for i, u := range c.units {
		if u <= 0 {
			continue
		}
		b := c.account.books[i].purse
		add(b, u, p.shareOf(b, lane))
		for _, s := range b.charged[lane] {
			add(s, u, 0)
		}
	}
	return out, shares
}

// waiting is what small calls wait for.
func (p *Pool) waiting(b *purse) float64 {
	if b.of != nil {
		return p.waitingFor(b)
	}
	sum := 0.0
	for _, k := range b.users {
		for i, other := range k.account.books {
			if other != k {
				continue
			}
			for _, c := range k.account.claims {
				sum += c.awaits(i)
			}
		}
	}
	return sum
}

// awaits is what a claim of small calls waits for of a book: all that its slice in the queue asks for, though less is wanted by now,
// since no less lets that go.
func (c *claim) awaits(book int) float64 {
	switch {
	case c.class != small:
		return 0
	case c.queued:
		return max(c.left[book], c.units[book])
	}
	return c.left[book]
}

// waitingFor is what the small calls that a shadow is charged for wait for.
func (p *Pool) waitingFor(s *purse) float64 {
	sum := 0.0
	for _, k := range s.of.users {
		for _, c := range k.account.claims {
			if slices.Contains(s.of.charged[p.laneOf(c.lane.name)], s) {
				sum += c.awaits(slices.Index(k.account.books, k))
			}
		}
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
		if !b.draws() {
			continue
		}
		needed := p.waiting(b) + p.waitingWhole(b) + b.Rate*max(0, keep.Seconds())
		level := p.level(b) - b.kept
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

// waitingWhole is what large calls wait for.
func (p *Pool) waitingWhole(b *purse) float64 {
	sum := 0.0
	for _, c := range p.bulks {
		for i, u := range c.units {
			of := c.account.books[i].purse
			if of == b || slices.Contains(of.charged[p.laneOf(c.lane.name)], b) {
				sum += min(u, b.Capacity)
			}
		}
	}
	return sum
}
