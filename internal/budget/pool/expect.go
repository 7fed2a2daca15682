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
	at := p.now.Sub(p.start)
	if at < p.expectAt {
		return
	}
	p.expectAt = at + p.cfg.Interval/4
	for i, b := range p.purses {
		if b.Kind == budget.Continuous {
			p.divide(i, b, at)
		}
	}
}

func (p *Pool) divide(i int, b *purse, at time.Duration) {
	left := max(b.rate-b.large.now(at, largeTime), leastLeft*b.rate)
	p.needs = p.needs[:0]
	sum := 0.0
	for _, a := range p.list {
		k := &a.books[i]
		k.needs = max(k.small.now(at, smallTime), p.wanted(a, i)/(2*p.cfg.Interval.Seconds()))
		if k.needs > trifle*b.rate {
			p.needs = append(p.needs, k.needs)
			sum += k.needs
		}
	}
	level := fill(p.needs, left)
	for _, a := range p.list {
		k := &a.books[i]
		k.expected = min(max(level, left-sum+k.needs), b.rate)
	}
}

// wanted is what small calls still wait for.
func (p *Pool) wanted(a *account, i int) float64 {
	sum := 0.0
	for _, c := range a.claims {
		if c.class == small {
			sum += c.left[i]
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
