// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

// Slots come back when calls end, and a gateway in which others wait takes them again at once: whoever had them first would
// keep them. So while more are wanted than there are, each holder is told how many it may have, and lets go of the others as
// its calls end. Lanes have their guarantees first; groups by their weights, priorities and lanes what is left; within a lane
// all holders have as much.

const (
	// turn is how long those have what does not divide evenly, until it is the turn of others.
	turn = 10 * time.Second
	// credits bounds what a holder had too little or too much, in slots times seconds.
	credits = 60.0
)

// slotShare is a holder's of one budget of slots.
type slotShare struct {
	// bound says that keep is all that it may have, of those that it does not own.
	bound bool
	keep  float64
	// due is its part as a number that is not whole, want what it would have, credit what it lacked of its parts so far.
	due, want, credit float64
	// extra says that it has one for what does not divide evenly.
	extra bool
}

// part is what one lane has of the slots, or one holder in a lane.
type part struct {
	need, weight, has float64
	lane              int
	book              *book
	of                []*part
}

// divideSlots tells holders how many slots they may have, if more are wanted than there are.
func (p *Pool) divideSlots(b *purse, at time.Duration) {
	dt := min(max(0, (at-b.dividedAt).Seconds()), 1)
	b.dividedAt = at
	total, need := p.slotsFor(b)
	if need <= total {
		for _, k := range b.users {
			if k.share.bound {
				k.share = slotShare{}
				p.askSlots(k)
			}
		}
		return
	}
	lanes := p.wantedSlots(b)
	p.divideLanes(b, lanes, total)
	for _, k := range b.users {
		k.share.due, k.share.want = 0, 0
	}
	for _, l := range lanes {
		for _, o := range l.of {
			o.book.share.due += o.has
			o.book.share.want += o.need
		}
	}
	p.whole(b, total, dt, at)
}

// slotsFor are how many there are to be divided, and how many are wanted or in use. Who was not heard of late keeps what it has.
func (p *Pool) slotsFor(b *purse) (total, need float64) {
	total = max(0, p.slotsOf(b)-b.reserved)
	for _, s := range p.idle {
		if s.purse == b {
			total--
		}
	}
	for _, k := range b.users {
		if k.account.quiet.After(p.now) {
			need += float64(len(k.slots)) + k.slotsWanted()
		} else {
			total -= float64(len(k.slots))
		}
	}
	return max(0, total), need
}

// slotsWanted are those that a holder waits for.
func (k *book) slotsWanted() float64 {
	sum := 0.0
	for _, c := range k.account.claims {
		if c.class >= 0 && k.account.books[c.class] == k {
			sum += c.left[c.class]
		}
	}
	return sum
}

// wantedSlots are by lane what each holder has or wants.
func (p *Pool) wantedSlots(b *purse) []*part {
	byLane := make([]*part, len(p.cfg.Lanes))
	for _, k := range b.users {
		if !k.account.quiet.After(p.now) {
			continue
		}
		for lane, n := range p.slotsByLane(k) {
			l := byLane[lane]
			if l == nil {
				l = &part{lane: lane, weight: 1}
				if w := p.cfg.Lanes[lane].Weight; w > 0 {
					l.weight = max(1e-3, w)
				}
				byLane[lane] = l
			}
			l.need += n
			l.of = append(l.of, &part{need: n, weight: 1, book: k})
		}
	}
	return slices.DeleteFunc(byLane, func(l *part) bool { return l == nil })
}

// slotsByLane are those that a holder has and wants.
func (p *Pool) slotsByLane(k *book) map[int]float64 {
	out := map[int]float64{}
	for _, s := range k.slots {
		if !s.outside {
			out[p.laneOf(s.lane)]++
		} else if len(k.account.lanes) > 0 {
			out[p.laneOf(k.account.lanes[0].name)]++
		}
	}
	for _, c := range k.account.claims {
		if c.class >= 0 && k.account.books[c.class] == k && c.left[c.class] > 0 {
			out[p.laneOf(c.lane.name)] += c.left[c.class]
		}
	}
	return out
}

// divideLanes gives each lane what it is guaranteed, and what is left to those that need more.
func (p *Pool) divideLanes(b *purse, lanes []*part, total float64) {
	left := total
	for _, l := range lanes {
		sure := clean(p.cfg.Lanes[l.lane].Share)
		if b.shares != nil {
			sure = (*b.shares)[p.cfg.Lanes[l.lane].Name]
		}
		l.has = min(l.need, sure*total, left)
		left -= l.has
	}
	groups := make([]*part, len(p.groups))
	for _, l := range lanes {
		g := p.groupOf[l.lane]
		if groups[g] == nil {
			groups[g] = &part{weight: max(1e-3, p.groups[g].Weight)}
		}
		groups[g].need += l.need - l.has
		groups[g].of = append(groups[g].of, l)
	}
	groups = slices.DeleteFunc(groups, func(g *part) bool { return g == nil })
	spread(groups, left)
	for _, g := range groups {
		p.divideGroup(g)
	}
	for _, l := range lanes {
		spread(l.of, l.has)
	}
}

// divideGroup gives a group's lanes what it has beyond their guarantees, the higher priorities first.
func (p *Pool) divideGroup(g *part) {
	slices.SortStableFunc(g.of, func(a, b *part) int {
		return cmp.Compare(p.cfg.Lanes[b.lane].Priority, p.cfg.Lanes[a.lane].Priority)
	})
	left := g.has
	for from := 0; from < len(g.of); {
		to := from
		for to < len(g.of) && p.cfg.Lanes[g.of[to].lane].Priority == p.cfg.Lanes[g.of[from].lane].Priority {
			to++
		}
		left = spread(g.of[from:to], left)
		from = to
	}
}

// spread adds to what parts have by max-min and weight, up to what they need, and returns what is left.
func spread(parts []*part, left float64) float64 {
	for left > 0 {
		weights, least := 0.0, math.Inf(1)
		for _, o := range parts {
			if o.need > o.has {
				weights += o.weight
				least = min(least, (o.need-o.has)/o.weight)
			}
		}
		if weights == 0 {
			break
		}
		each := min(least, left/weights)
		for _, o := range parts {
			if o.need > o.has {
				more := min(each*o.weight, o.need-o.has)
				if least == each && (o.need-o.has)/o.weight <= each {
					more = o.need - o.has
				}
				o.has += more
				left -= more
			}
		}
		if each < least {
			return 0
		}
	}
	return max(0, left)
}

// whole makes whole numbers of the parts. What does not divide evenly goes in turn, to those who lacked most.
func (p *Pool) whole(b *purse, total, dt float64, at time.Duration) {
	var some []*book
	for _, k := range b.users {
		s := &k.share
		if !k.account.quiet.After(p.now) {
			continue
		}
		s.credit = min(max(s.credit+(s.due-float64(len(k.slots)))*dt, -credits), credits)
		keep := math.Floor(s.due + trifle)
		total -= keep
		if s.bound && s.keep > keep+1 {
			p.recallSlots(k, keep)
		}
		s.bound, s.keep = true, keep
		if s.want > keep {
			some = append(some, k)
		} else {
			s.extra = false
		}
	}
	again := at >= b.turnAt
	if again {
		b.turnAt = at + turn
	}
	slices.SortFunc(some, func(x, y *book) int {
		if !again && x.share.extra != y.share.extra {
			return cmp.Compare(unit(y.share.extra), unit(x.share.extra))
		}
		if c := cmp.Compare(y.share.credit, x.share.credit); c != 0 {
			return c
		}
		return cmp.Compare(x.account.term.Opening, y.account.term.Opening)
	})
	for i, k := range some {
		k.share.extra = float64(i) < math.Floor(total+trifle)
		if k.share.extra {
			k.share.keep++
		}
	}
	for _, k := range b.users {
		p.askSlots(k)
	}
}

// recallSlots has a holder be told at once of what it may no longer have.
func (p *Pool) recallSlots(k *book, keep float64) {
	if float64(len(k.slots)) > keep {
		k.account.tell(p)
	}
}

// mayHaveSlot says whether a claim may be granted another slot.
func (c *claim) mayHaveSlot() bool {
	if c.class < 0 {
		return true
	}
	k := c.account.books[c.class]
	return !k.share.bound || float64(len(k.slots)) < k.share.keep
}

// askSlots queues a holder's claims of slots, or takes them out if it may have no more.
func (p *Pool) askSlots(k *book) {
	for _, c := range k.account.claims {
		if c.class < 0 || k.account.books[c.class] != k {
			continue
		}
		if may := c.mayHaveSlot(); c.queued && !may {
			p.unqueue(c)
		} else if !c.queued && may && c.wants() && k.account.quiet.After(p.now) {
			p.queue(c)
		}
	}
}

// mayKeep is how many slots a holder may have in all, as it is told.
func (k *book) mayKeep() float64 {
	if k.share.bound {
		return k.purse.own() + k.share.keep
	}
	return k.purse.Capacity
}

// own are the slots that each holder has without being granted them.
func (b *purse) own() float64 {
	if b.Kind != budget.Slots {
		return 0
	}
	return math.Floor(b.safeBurst)
}
