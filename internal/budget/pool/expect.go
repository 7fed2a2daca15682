// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"math"
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

// A holder cannot know what it will be granted: it depends on what others need. So the pool tells each what its small calls
// may expect: what large calls leave of the rate, divided by max-min among those who need it.

const (
	// smallTime and largeTime are over which times use counts as lately: large calls come rarely.
	smallTime = 10 * time.Second
	largeTime = time.Minute
	// leastLeft is the part of a rate that small calls may expect however many large calls there are.
	leastLeft = 0.05
)

// average is of what comes in a second, over a time.
type average struct {
	perSecond float64
	at        time.Duration
}

func (a *average) now(at, over time.Duration) float64 {
	if at > a.at {
		a.perSecond *= math.Exp(-(at - a.at).Seconds() / over.Seconds())
		a.at = at
	}
	return a.perSecond
}

func (a *average) add(units float64, at, over time.Duration) {
	a.perSecond = max(0, a.now(at, over)+units/over.Seconds())
}

// foretell works out anew what small calls may expect, now and then: all who report are looked at.
func (p *Pool) foretell() {
	at := p.elapsed()
	if at < p.expectAt {
		return
	}
	p.expectAt = at + p.cfg.Interval/4
	for _, b := range p.purses {
		if b.Kind == budget.Continuous && len(b.users) > 0 {
			p.divide(b, at)
		} else if b.Kind == budget.Slots && len(b.users) > 0 {
			p.divideSlots(b, at)
		}
	}
	p.flush()
}

// portion is what one group may expect of a budget.
type portion struct {
	// needs are what its holders need in a second, need is their sum.
	needs []float64
	users int
	need  float64
	// sure is what its lanes are guaranteed, weight divides the rest. part is what it may have, level the most of it that one
	// holder may.
	sure, weight, part, level float64
}

// divide gives groups what is sure to them, and the rest by max-min to those that need more; within a group all holders
// have as much, at the most what they need.
func (p *Pool) divide(b *purse, at time.Duration) {
	rate := p.supplied(b)
	left := max(rate-b.large.now(at, largeTime), leastLeft*rate)
	p.gather(b, left, at)
	spare := p.portions.divide(left)
	for _, g := range p.portions.used {
		o := &p.portions.of[g]
		o.level = fill(o.needs, o.part)
		if o.need <= o.part {
			// All have what they need, and what nobody does is there for each.
			o.level = o.part + spare
		}
	}
	for _, k := range b.users {
		o := &p.portions.of[k.account.group]
		expected := min(max(o.level, o.part+spare-o.need+k.needs), b.rate)
		if k.account.holder.outage == OutageLastGrant {
			expected = p.promise(k, min(expected, k.needs+spare/float64(len(b.users))))
		}
		if expected != k.expected {
			k.expected, k.told = expected, 0
		}
	}
}

// portions are room for the groups of one budget, by their numbers; used are those that use it.
type portions struct {
	of   []portion
	used []int
}

// gather finds the groups that use a budget, what they need and what is sure to them.
func (p *Pool) gather(b *purse, left float64, at time.Duration) {
	o := &p.portions
	for _, g := range o.used {
		o.of[g] = portion{needs: o.of[g].needs[:0]}
	}
	o.used = o.used[:0]
	for len(o.of) < len(p.groups) {
		o.of = append(o.of, portion{})
	}
	for _, k := range b.users {
		k.needs = max(k.small.now(at, smallTime), k.wanted()/(2*p.cfg.Interval.Seconds()))
		g := k.account.group
		s := &o.of[g]
		if s.users++; s.users == 1 {
			s.weight, s.sure = p.groups[g].Weight, p.sureOf(b, g, left)
			o.used = append(o.used, g)
		}
		if k.needs > trifle*b.rate {
			s.needs = append(s.needs, k.needs)
			s.need += k.needs
		}
	}
}

// divide gives each group its part, and returns what is left of all.
func (o *portions) divide(left float64) float64 {
	for _, i := range o.used {
		g := &o.of[i]
		g.part = min(g.need, g.sure)
		left -= g.part
	}
	for left > 0 {
		// Each round gives all that still need something as much for their weight, or one of them all it needs.
		weights, least := 0.0, math.Inf(1)
		for _, i := range o.used {
			if g := &o.of[i]; g.need > g.part {
				weights += g.weight
				least = min(least, (g.need-g.part)/g.weight)
			}
		}
		if weights == 0 {
			break
		}
		each := min(least, left/weights)
		for _, i := range o.used {
			g := &o.of[i]
			switch {
			case g.need <= g.part:
			case (g.need-g.part)/g.weight <= each:
				left -= g.need - g.part
				g.part = g.need
			default:
				left -= each * g.weight
				g.part += each * g.weight
			}
		}
		if each < least {
			break
		}
	}
	return max(0, left)
}

// wanted is what small calls still wait for.
func (k *book) wanted() float64 {
	sum := 0.0
	for i, other := range k.account.books {
		if other != k {
			continue
		}
		for _, c := range k.account.claims {
			if c.class == small {
				sum += c.left[i]
			}
		}
	}
	return sum
}

// fill is what each may have at most, so that all together have what is left.
func fill(needs []float64, left float64) float64 {
	slices.Sort(needs)
	for k, need := range needs {
		if even := left / float64(len(needs)-k); need >= even {
			return even
		}
		left -= need
	}
	// All have what they need.
	return left
}

// Expected is how much of a budget small calls may expect in a second, as the pool told it; false if it did not yet, which of a
// budget that was added it does with its next grant.
func (h *Holder) Expected(name string) (perSecond float64, told bool) {
	if i, ok := h.byName[name]; ok && h.stamp > 0 && h.pockets[i].bound {
		return h.pockets[i].expected, true
	}
	return 0, false
}
