// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"math"
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

// Classes of claims beside those of slots, which are numbered by their budgets.
const (
	small = -1
	bulk  = -2
)

// claim is what one lane of a holder waits to be granted: small calls, one bulk call, or slots of one budget.
type claim struct {
	account *account
	lane    *laneBook
	// class is small, bulk, or the place of the budget whose slots it is for.
	class  int
	number uint64
	// left is what is still wanted; of it the call in the queue asks for units.
	left, units []float64
	// charged are by book the shadows that the call in the queue takes of as well.
	charged [][]*purse
	call    *budget.Call
	slot    *slot
	queued  bool
	// parked says that its call was admitted, and waits for more to be allowed outstanding.
	parked bool
	// putOff says that it was parked, and asks anew with the next Advance.
	putOff bool
	// former is a call in the queue that another is to follow in its place.
	former *budget.Call
}

// share is how much of an interval's refill one slice of a small claim may take; all that ask go in turn.
const share = 0.5

// trifle is the part of a capacity below which nothing is wanted: it is rounding.
const trifle = 1e-9

// pace is how long Next is after now at the least: grants are made in batches.
const pace = 10 * time.Millisecond

// want takes in what a holder wants; what it wants no longer is withdrawn. What it wants by the totals of another
// term means nothing here, but to a holder that has just come.
func (p *Pool) want(a *account, r *Report, opened bool) {
	if r.Term != a.term && (!opened || r.Term != Term{}) {
		return
	}
	for _, c := range a.claims {
		clear(c.left)
	}
	for i := range r.Wants {
		w := &r.Wants[i]
		switch lane := a.lane(w.Lane, p.groupOf[p.laneOf(w.Lane)]); {
		case lane == nil:
		case w.Bulk > 0:
			p.wantBulk(a, lane, w)
		default:
			p.wantSmall(a, lane, w)
		}
	}
	p.ask(a)
}

func (p *Pool) wantBulk(a *account, lane *laneBook, w *Want) {
	if w.Bulk <= lane.bulk || a.hoards(lane) {
		return
	}
	p.openFor(a, w.Units)
	c := a.claim(lane, bulk)
	if c.number != w.Bulk {
		p.supersede(c)
		c.number = w.Bulk
	}
	for i, k := range a.books {
		if b := k.purse; b.Kind == budget.Continuous && a.holder.mayTouch(b) {
			c.left[i] = min(clean(units(w.Units, b.Name)), b.Capacity)
		}
	}
}

// openFor opens the books of budgets that were not counted.
func (p *Pool) openFor(a *account, amounts []Amount) {
	for _, u := range amounts {
		b, ok := p.byName[u.Budget]
		if !ok || slices.ContainsFunc(a.books, func(k *book) bool { return k.purse == b }) {
			continue
		}
		if k := p.book(a, b); k != nil {
			p.begin(k, Count{})
		}
	}
}

// wantSmall takes at most two intervals' refill, and no more while so much lies unspent: nobody is to hoard.
func (p *Pool) wantSmall(a *account, lane *laneBook, w *Want) {
	p.openFor(a, w.Units)
	for i, k := range a.books {
		b := k.purse
		more := clean(units(w.Units, b.Name)) - lane.units[i]
		if more <= trifle*b.Capacity || !a.holder.mayTouch(b) {
			continue
		}
		class, most := small, p.atMost(b)
		if b.Kind == budget.Slots {
			class, more, most = i, math.Floor(more), b.Capacity
		} else if k.outstanding()-k.bulk > most {
			continue
		}
		a.claim(lane, class).left[i] = min(more, most)
	}
}

// atMost is what a lane may ask for at once, and the most that lies unspent with a holder that asks: two intervals' refill.
func (p *Pool) atMost(b *purse) float64 { return max(2*b.Rate*p.cfg.Interval.Seconds(), b.SmallCall) }

// claim returns the claim of a lane and class.
func (a *account) claim(lane *laneBook, class int) *claim {
	for _, c := range a.claims {
		if c.lane == lane && c.class == class {
			return c
		}
	}
	c := &claim{account: a, lane: lane, class: class, left: make([]float64, len(a.books)), units: make([]float64, len(a.books))}
	a.claims = append(a.claims, c)
	return c
}

// ask queues the claims that want something, and takes out those that do not. A slice for small calls keeps its place though
// a little less is wanted by now: it would begin anew at the end each time that some budget suffices for once, and starve.
func (p *Pool) ask(a *account) {
	for _, c := range a.claims {
		if !c.wants() || (c.queued || c.parked) && c.class != small && c.exceeds() {
			p.unqueue(c)
		}
	}
	for _, c := range a.claims {
		if c.wants() && !c.queued {
			p.queue(c)
		}
		if c.former != nil {
			p.sched.Cancel(c.former, p.now)
			c.former = nil
		}
	}
}

func (c *claim) wants() bool {
	for _, u := range c.left {
		if u > 0 {
			return true
		}
	}
	return false
}

// asks says whether the next slice has anything.
func (c *claim) asks() bool {
	for _, u := range c.units {
		if u > 0 {
			return true
		}
	}
	return false
}

// exceeds says whether more is asked for than is wanted now.
func (c *claim) exceeds() bool {
	for i, u := range c.units {
		if u > c.left[i] {
			return true
		}
	}
	return false
}

// queue asks the scheduler for the next slice of a claim, until it has to wait or has all.
func (p *Pool) queue(c *claim) {
	for c.wants() && !c.parked {
		if !c.mayHaveSlot() {
			return
		}
		if p.slice(c); !c.asks() {
			// Nothing passes a budget or a shadow without capacity.
			return
		}
		c.call = &budget.Call{}
		if c.class >= 0 {
			c.slot = &slot{}
			c.call = &c.slot.call
		}
		c.call.Lane, c.call.Owner = p.laneOf(c.lane.name), c
		p.costs(c)
		switch p.sched.Submit(c.call, p.now).State {
		case budget.Queued:
			p.enqueued(c, 1)
			return
		case budget.Admitted:
			if !p.granted(c) {
				return
			}
			if !c.wants() {
				p.ahead(c)
			}
		default:
			// A cap that is used up; the next report asks again.
			return
		}
	}
}

// laneOf is a lane's index by its name; what is unknown is one of the last.
func (p *Pool) laneOf(name string) int {
	if i, ok := p.lanes[name]; ok {
		return i
	}
	return len(p.cfg.Lanes) - 1
}

// costs has the call take its units, and the shadows of its lane the same.
func (p *Pool) costs(c *claim) {
	c.charged = append(c.charged[:0], make([][]*purse, len(c.units))...)
	for i, u := range c.units {
		if u <= 0 {
			continue
		}
		c.charged[i] = c.account.books[i].purse.charged[c.call.Lane]
	}
	c.cost()
}

// cost has the call take what is asked for.
func (c *claim) cost() {
	c.call.Costs = c.call.Costs[:0]
	c.each(func(b *purse, u float64) {
		c.call.Costs = append(c.call.Costs, budget.Cost{Bucket: b.id, Amount: u})
	})
}

// slice sets what is asked for at once: all of a bulk call, a slot, and of small calls a part of the refill that
// leaves the others their turn, all budgets in proportion.
func (p *Pool) slice(c *claim) {
	part, lane := 1.0, p.laneOf(c.lane.name)
	for i, u := range c.left {
		b := c.account.books[i].purse
		switch {
		case u <= 0:
		case c.class >= 0:
			part = 1 / u
		case c.class == small:
			part = min(part, p.atOnce(b, u))
			for _, s := range b.charged[lane] {
				part = min(part, p.atOnce(s, u))
			}
		}
	}
	for i, u := range c.left {
		c.units[i] = u * part
		if u-c.units[i] < trifle*c.account.books[i].purse.Capacity {
			c.units[i] = u
		}
	}
}

// atOnce is which part of so many units is asked for at once. Of an external budget it is a quarter: what a slice waits for lies
// here, and many pools that wait so have all that their store has.
func (p *Pool) atOnce(b *purse, u float64) float64 {
	most := max(share*p.supplied(b)*p.cfg.Interval.Seconds()/float64(b.asking+1), b.SmallCall)
	if b.External {
		most /= 4
	}
	return min(1, most/u, b.Capacity/u)
}

// granted books what the scheduler admitted. It is false if more would be outstanding than a next leader assumes; then the claim
// waits for that to be published, and keeps what it was admitted with.
func (p *Pool) granted(c *claim) bool {
	if !c.mayHaveSlot() {
		// Another of its lanes came first.
		p.release(c.account.books[c.class].purse, c.slot)
		return false
	}
	if p.exceeding(c) {
		p.park(c)
		return false
	}
	p.give(c)
	return true
}

// give books a claim's call.
func (p *Pool) give(c *claim) {
	a := c.account
	for i, u := range c.units {
		if u > 0 {
			p.grant(c, i, u)
		}
	}
	if c.class < 0 {
		p.sched.Settle(c.call, nil, p.now)
	}
	if c.class == bulk {
		c.lane.bulk = c.number
		a.lend(c, p.now)
		p.attend(a, p.hoardedUntil(a))
		clear(c.left)
	}
	a.tell(p)
}

// grant books what a claim is granted of one budget.
func (p *Pool) grant(c *claim, i int, u float64) {
	k := c.account.books[i]
	b, shadows := k.purse, c.charged[i]
	p.touch(b)
	for _, s := range shadows {
		p.touch(s)
	}
	k.grant(u, shadows)
	c.lane.units[i] += u
	if c.left[i] -= u; c.left[i] < trifle*b.Capacity {
		c.left[i] = 0
	}
	switch at := p.elapsed(); c.class {
	case small:
		k.small.add(u, at, smallTime)
		b.late(c.lane.name, u, at)
	case bulk:
		k.bulk += u
		b.large.add(u, at, largeTime)
		for _, s := range shadows {
			s.large.add(u, at, largeTime)
		}
	default:
		c.slot.lane = c.lane.name
		k.slots = append(k.slots, c.slot)
	}
}

// unqueue takes a claim's call out.
func (p *Pool) unqueue(c *claim) {
	switch {
	case c.queued:
		p.sched.Cancel(c.call, p.now)
		p.enqueued(c, -1)
	case c.parked:
		p.unpark(c)
	}
}

// supersede has the claim's next call come after the one that is in the queue, which leaves then: what its lane collected is for
// the next one, and would be lent out if none were there.
func (p *Pool) supersede(c *claim) {
	if !c.queued {
		p.unqueue(c)
		return
	}
	p.enqueued(c, -1)
	c.former = c.call
}

// enqueued counts a claim that came into the queue, or left it.
func (p *Pool) enqueued(c *claim, n int) {
	c.queued = n > 0
	p.asking += n
	switch {
	case c.class == small:
		for i, u := range c.units {
			if u > 0 {
				c.account.books[i].purse.asking += n
				for _, s := range c.charged[i] {
					s.asking += n
				}
			}
		}
	case c.class == bulk && n > 0:
		p.bulks = append(p.bulks, c)
	case c.class == bulk:
		p.bulks = slices.DeleteFunc(p.bulks, func(b *claim) bool { return b == c })
	}
}

// withdraw ends all of an account's claims.
func (p *Pool) withdraw(a *account) {
	for _, c := range a.claims {
		p.unqueue(c)
		clear(c.left)
	}
}
