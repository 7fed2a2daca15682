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
		}
	}
	p.flush()
}

// portion is what one group may expect of a budget.
type portion struct {
	group string
	// need is what its holders need in a second, sure what its lanes are guaranteed, weight divides the rest. part is what it
	// may have, level the most of it that one holder may.
	need, sure, weight, part, level float64
}

// divide gives groups what is sure to them, and the rest by max-min to those that need more; within a group all holders
// have as much, at the most what they need.
func (p *Pool) divide(b *purse, at time.Duration) {
	left := max(b.rate-b.large.now(at, largeTime), leastLeft*b.rate)
	for _, k := range b.users {
		k.needs = max(k.small.now(at, smallTime), k.wanted()/(2*p.cfg.Interval.Seconds()))
	}
	p.portions.gather(p, b, left)
	spare := p.portions.divide(left)
	for i := range p.portions.of {
		o := &p.portions.of[i]
		p.needs = p.needs[:0]
		for _, k := range b.users {
			if k.group() == o.group && k.needs > trifle*b.rate {
				p.needs = append(p.needs, k.needs)
			}
		}
		o.level = fill(p.needs, o.part)
		if o.need <= o.part {
			// All have what they need, and what nobody does is there for each.
			o.level = o.part + spare
		}
	}
	for _, k := range b.users {
		o := p.portions.get(k.group())
		expected := min(max(o.level, o.part+spare-o.need+k.needs), b.rate)
		if k.account.holder.outage == OutageLastGrant {
			expected = p.promise(k, min(expected, k.needs+spare/float64(len(b.users))))
		}
		if expected != k.expected {
			k.expected, k.told = expected, 0
		}
	}
}

// group is whose lanes the holder's are.
func (k *book) group() string { return k.account.group }

// portions are room for the groups of one budget.
type portions struct {
	of []portion
	at map[string]int
}

func (o *portions) get(group string) *portion { return &o.of[o.at[group]] }

// gather finds the groups that use a budget, and what is sure to them.
func (o *portions) gather(p *Pool, b *purse, left float64) {
	o.of = o.of[:0]
	if o.at == nil {
		o.at = map[string]int{}
	}
	clear(o.at)
	for _, k := range b.users {
		i, known := o.at[k.group()]
		if !known {
			i = len(o.of)
			o.at[k.group()] = i
			o.of = append(o.of, portion{group: k.group(), weight: p.weight(k.group()), sure: left * p.sure(b, k.group())})
		}
		o.of[i].need += k.needs
	}
}

// divide gives each group its part, and returns what is left of all.
func (o *portions) divide(left float64) float64 {
	for i := range o.of {
		g := &o.of[i]
		g.part = min(g.need, g.sure)
		left -= g.part
	}
	for left > 0 {
		// Each round gives all that still need something as much for their weight, or one of them all it needs.
		weights, least := 0.0, math.Inf(1)
		for i := range o.of {
			if g := &o.of[i]; g.need > g.part {
				weights += g.weight
				least = min(least, (g.need-g.part)/g.weight)
			}
		}
		if weights == 0 {
			break
		}
		each := min(least, left/weights)
		for i := range o.of {
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

// weight is a group's.
func (p *Pool) weight(group string) float64 {
	for i := range p.cfg.Groups {
		if g := &p.cfg.Groups[i]; g.Name == group && g.Weight > 0 {
			return g.Weight
		}
	}
	return 1
}

// sure is the part of a budget that a group's lanes are guaranteed.
func (p *Pool) sure(b *purse, group string) float64 {
	if len(p.cfg.Groups) == 0 {
		return 0
	}
	sum := 0.0
	for i := range p.cfg.Lanes {
		l := &p.cfg.Lanes[i]
		switch {
		case l.Group != group:
		case b.shares == nil:
			sum += clean(l.Share)
		default:
			sum += clean((*b.shares)[l.Name])
		}
	}
	return min(sum, 1)
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

// Expected is how much of a budget small calls may expect in a second, as the pool told it; false if it did not yet.
func (h *Holder) Expected(name string) (perSecond float64, told bool) {
	if i, ok := h.byName[name]; ok && h.stamp > 0 {
		return h.pockets[i].expected, true
	}
	return 0, false
}
