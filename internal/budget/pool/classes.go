// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"cmp"
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

// A store that several pools draw on divides what there is among classes, whichever pools they are in: groups, or where there
// are none lanes. So a pool says what each of its classes needs, and is told whose what it gets is.

// MaxClaims bounds the claims on one budget; the least ones are told as those of no class.
const MaxClaims = 64

// Claim is what a class needs of an external budget.
type Claim struct {
	Class string
	// Share of the budget is its own, Weight divides what nobody claims, Unlent is the part of its own that it does not lend.
	Share, Weight, Unlent float64
	// Wanted is what its small calls wait for, of slots what it has and waits for; Lately is what they were granted in a
	// second.
	Wanted, Lately float64
}

// Allotment is units for a class, or for one of its lanes.
type Allotment struct {
	Class, Lane string
	Units       float64
}

func (p *Pool) classOf(lane int) string {
	if len(p.cfg.Groups) > 0 {
		return p.cfg.Lanes[lane].Group
	}
	return p.cfg.Lanes[lane].Name
}

// shareOf is a lane's of a budget.
func (p *Pool) shareOf(b *purse, lane int) float64 {
	if b.shares != nil {
		return (*b.shares)[p.cfg.Lanes[lane].Name]
	}
	return clean(p.cfg.Lanes[lane].Share)
}

// late counts what a lane's small calls of an external budget were granted.
func (b *purse) late(lane string, units float64, at time.Duration) {
	if !b.draws() {
		return
	}
	if b.lately == nil {
		b.lately = map[string]*average{}
	}
	a := b.lately[lane]
	if a == nil {
		if len(b.lately) >= maxPoolLanes {
			clear(b.lately)
		}
		a = &average{}
		b.lately[lane] = a
	}
	a.add(units, at, smallTime)
}

// claims are those of all classes that need something of a budget, or keep something of it.
func (p *Pool) claims(b *purse) []Claim {
	if b.of != nil {
		return nil
	}
	wanted, waits := p.wantedByLane(b)
	var out []Claim
	places := map[string]int{}
	for lane, l := range p.cfg.Lanes {
		c := Claim{Class: p.classOf(lane), Share: p.shareOf(b, lane), Weight: 1, Wanted: wanted[lane]}
		if a := b.lately[l.Name]; a != nil {
			c.Lately = a.now(p.elapsed(), smallTime)
		}
		if len(p.cfg.Groups) > 0 {
			g := p.groups[p.groupOf[lane]]
			c.Weight, c.Unlent = g.Weight, g.Unlent
		} else if l.Weight > 0 {
			c.Weight = l.Weight
		}
		i, known := places[c.Class]
		if !known {
			i = len(out)
			places[c.Class] = i
			out = append(out, Claim{Class: c.Class, Weight: c.Weight, Unlent: c.Unlent})
		}
		out[i].Share += c.Share
		out[i].Wanted += c.Wanted
		out[i].Lately += c.Lately
	}
	return bounded(slices.DeleteFunc(out, func(c Claim) bool {
		return c.Wanted <= 0 && c.Lately <= trifle*b.Rate && !waits[c.Class] && c.Unlent*c.Share <= 0
	}))
}

// wantedByLane is what small calls of each lane wait for, of slots what it has as well, and which classes have large calls.
func (p *Pool) wantedByLane(b *purse) (wanted map[int]float64, large map[string]bool) {
	wanted, large = map[int]float64{}, map[string]bool{}
	for _, k := range b.users {
		if b.Kind == budget.Slots {
			for lane, n := range p.slotsByLane(k) {
				wanted[lane] += n
			}
			continue
		}
		i := slices.Index(k.account.books, k)
		for _, c := range k.account.claims {
			switch {
			case i < 0 || c.left[i] <= 0:
			case c.class == small:
				wanted[p.laneOf(c.lane.name)] += c.left[i]
			case c.class == bulk:
				large[p.classOf(p.laneOf(c.lane.name))] = true
			}
		}
	}
	return wanted, large
}

// bounded keeps those that want most, and adds the others up.
func bounded(claims []Claim) []Claim {
	if len(claims) <= MaxClaims {
		return claims
	}
	slices.SortStableFunc(claims, func(a, b Claim) int { return cmp.Compare(b.Wanted+b.Lately, a.Wanted+a.Lately) })
	rest := Claim{Weight: 1}
	for _, c := range claims[MaxClaims-1:] {
		rest.Wanted += c.Wanted
		rest.Lately += c.Lately
	}
	return append(claims[:MaxClaims-1:MaxClaims-1], rest)
}

// Allot brings into an external budget what its store gave, and whose it is; of a class it is the lanes' in proportion to what
// they wait for. What does not fit in is left.
func (p *Pool) Allot(name string, to []Allotment, now time.Time) (left float64) {
	p.tick(now)
	b := p.byName[name]
	for _, a := range to {
		units := clean(a.Units)
		if b == nil || !b.draws() {
			left += units
			continue
		}
		p.touch(b)
		in := p.fitting(b, units)
		b.deposited += in
		left += units - in
		p.feed(b, a, in)
	}
	p.flush()
	return left
}

// feed brings units to the lanes that an allotment is for; where none waits they are as a refill.
func (p *Pool) feed(b *purse, a Allotment, units float64) {
	lanes, sum := map[int]float64{}, 0.0
	if i, ok := p.lanes[a.Lane]; ok {
		lanes[i], sum = 1, 1
	} else if b.of == nil {
		wanted, _ := p.wantedByLane(b)
		for lane, n := range wanted {
			if n > 0 && p.classOf(lane) == a.Class {
				lanes[lane] = n
				sum += n
			}
		}
	}
	if sum <= 0 {
		p.sched.Pour(b.id, units, p.now)
		return
	}
	for lane := range p.cfg.Lanes {
		if n := lanes[lane]; n > 0 {
			p.feedLane(b, lane, units*n/sum)
		}
	}
}

// rounds bound how often a lane is fed and goes on within one allotment.
const rounds = 32

// feedLane brings units to a lane, as much at once as it keeps: that is what its call in the queue asks for, and what is
// beyond that others would borrow, though more of its own wait.
func (p *Pool) feedLane(b *purse, lane int, units float64) {
	for range rounds {
		lacks := p.sched.Lacks(b.id, lane, p.now)
		if lacks <= trifle*b.Capacity || lacks >= units || !p.leads() {
			break
		}
		p.sched.Feed(b.id, lane, lacks, p.now)
		units -= lacks
		p.admit()
	}
	p.sched.Feed(b.id, lane, units, p.now)
}

// lending are the groups as the scheduler has them: what a class does not lend of an external budget its store keeps, or the
// pool of each installation would.
func (p *Pool) lending() []budget.Group {
	if !slices.ContainsFunc(p.purses, (*purse).draws) {
		return p.cfg.Groups
	}
	out := slices.Clone(p.cfg.Groups)
	for i := range out {
		out[i].Unlent = 0
	}
	return out
}
