// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"math"
	"time"
)

// epoch is what a configuration gives one lane from a time on: of each bucket that its calls need the lane's rate r·R
// and its hold, and by how much the edit scaled a level.
type epoch struct {
	at                time.Duration
	rate, hold, scale []float64
}

// epochOf is the lane's part of a configuration that comes after one with the given capacities.
func (y *system) epochOf(lane int, cfg Config, before []float64, at time.Duration) epoch {
	e := epoch{at: at}
	l := cfg.Lanes[lane]
	for _, b := range y.sets[lane] {
		spec := cfg.Buckets[b]
		hold := min(l.Share*spec.Capacity/2, 10*l.Share*spec.Rate)
		switch {
		case l.Hold < 0:
			hold = 0
		case l.Hold > 0:
			hold = min(l.Share*spec.Capacity, l.Hold.Seconds()*l.Share*spec.Rate)
		}
		e.rate, e.hold = append(e.rate, l.Share*spec.Rate), append(e.hold, hold)
		e.scale = append(e.scale, min(1, spec.Capacity/before[b]))
	}
	return e
}

// private is a bucket vector that one lane would have to itself: of rate r·R and capacity max(H, c), edited as the
// lane's is.
type private struct {
	epochs []epoch
	// bare has no hold: it collects for the head alone.
	bare  bool
	k     int
	level []float64
	at    time.Duration
}

func newPrivate(epochs []epoch, at time.Duration) *private {
	p := &private{epochs: epochs, at: at, level: make([]float64, len(epochs[0].rate))}
	for p.k+1 < len(epochs) && epochs[p.k+1].at <= at {
		p.k++
	}
	return p
}

// next is when the private buckets let the next send go, of a call that is there from a time on. Then they are charged
// what it spent.
func (p *private) next(a *attempt, from time.Duration) time.Duration {
	if from > p.at {
		p.grow(from, nil)
	}
	for {
		wait := 0.0
		for k, cost := range a.costs {
			if lack := cost.Amount - p.level[k]; lack > 0 {
				wait = max(wait, lack/p.epochs[p.k].rate[k])
			}
		}
		end := p.at + time.Duration(math.Ceil(wait*1e9))
		if p.k+1 < len(p.epochs) && p.epochs[p.k+1].at < end {
			p.grow(p.epochs[p.k+1].at, a.costs)
			continue
		}
		p.grow(end, a.costs)
		p.charge(a)
		return end
	}
}

func (p *private) charge(a *attempt) {
	for k, cost := range a.costs {
		p.level[k] -= cost.Amount
		switch more := a.spent[k] - cost.Amount; {
		case more > 0:
			p.level[k] -= more
		default:
			// What comes back is kept as far as an idle lane keeps anything, since it really came.
			p.level[k] = max(p.level[k], min(p.leastHold(a.left, k), p.level[k]-more))
		}
	}
}

// leastHold is the least hold in force from a time until now.
func (p *private) leastHold(from time.Duration, k int) float64 {
	least := p.epochs[p.k].hold[k]
	for i := p.k; i > 0 && p.epochs[i].at >= from; i-- {
		least = min(least, p.epochs[i-1].hold[k])
	}
	return least
}

// grow refills up to a time, through the edits before it.
func (p *private) grow(to time.Duration, head []Cost) {
	for p.k+1 < len(p.epochs) && p.epochs[p.k+1].at <= to {
		p.refill(p.epochs[p.k+1].at, head)
		p.k++
		for k := range p.level {
			if p.level[k] > 0 {
				p.level[k] *= p.epochs[p.k].scale[k]
			}
		}
	}
	p.refill(to, head)
}

func (p *private) refill(to time.Duration, head []Cost) {
	e := &p.epochs[p.k]
	for k := range p.level {
		limit := e.hold[k]
		if p.bare {
			limit = 0
		}
		if head != nil {
			limit = max(limit, head[k].Amount)
		}
		p.level[k] = min(limit, p.level[k]+e.rate[k]*(to-p.at).Seconds())
	}
	p.at = to
}
