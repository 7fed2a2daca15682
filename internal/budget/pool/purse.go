// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"math"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

// purse is one budget's side of the pool. Its level P is the scheduler's.
type purse struct {
	Budget
	id budget.BucketID
	// safeRate and safeBurst are one holder's safe share.
	safeRate, safeBurst float64
	// rate is what the scheduler refills at.
	rate float64
	// debt is what the last leader owed.
	debt float64

	// held is ΣH, of continuous budgets what is owed by holders left out.
	held float64
	// unknown bounds what an earlier leader granted and nobody has reported yet.
	unknown float64
	// outside are slots that are held without a call in the scheduler: those of an earlier leader.
	outside float64
	// lift is what was given back and is not in the scheduler's level yet.
	lift float64
	// most bounds what may be out, as published; wanted is what it would have to be for a call that waits.
	most, wanted float64

	slack slackness
	// large is what large calls were granted of late.
	large average

	granted, spent, returned, refunded, burnt float64
}

func newPurse(b Budget, maxHolders int, by Leader) *purse {
	p := &purse{Budget: b}
	p.safeRate, p.safeBurst = Safe(b, maxHolders)
	p.most = b.Capacity
	if by.First {
		return p
	}
	p.unknown = b.Capacity
	for _, last := range by.Last.Budgets {
		if last.Name != b.Name {
			continue
		}
		p.debt = min(clean(last.Debt), b.Capacity)
		if last.Outstanding > 0 {
			p.unknown = min(clean(last.Outstanding), b.Capacity)
			p.most = p.unknown
			p.wanted = min(p.Outstanding+p.unknown, b.Capacity)
		}
	}
	if b.Kind == budget.Slots {
		p.unknown = p.shared(maxHolders)
	}
	return p
}

// shared are the slots that no holder owns.
func (b *purse) shared(maxHolders int) float64 {
	return b.Capacity - b.safeBurst*float64(maxHolders)
}

// room is as far as P may fill: B' − ΣH, less what may be out beside that.
func (p *Pool) room(b *purse) float64 {
	safe := min(float64(p.silent)*b.safeBurst, b.Capacity/2)
	return b.Capacity - b.held - b.unknown - safe
}

// cap lowers the levels to their room, at a time that is not before any other of the scheduler's.
func (p *Pool) cap(now time.Time) {
	for _, b := range p.purses {
		if b.Kind == budget.Continuous {
			p.sched.Lower(b.id, p.room(b), now)
		}
	}
}

// raise brings what was given back into the levels.
func (p *Pool) raise() {
	for _, b := range p.purses {
		if b.lift > 0 {
			p.sched.Raise(b.id, min(p.level(b), p.room(b)), p.now)
			b.lift = 0
		}
	}
}

// level is P, with what was given back.
func (p *Pool) level(b *purse) float64 { return p.sched.Level(b.id, p.now) + b.lift }

// rerate leaves their safe shares to the silent. No more than half of the rate is theirs.
func (p *Pool) rerate() {
	for _, b := range p.purses {
		if rate := p.rateOf(b); b.Kind == budget.Continuous && rate != b.rate {
			b.rate = rate
			p.sched.Ensure(p.bucket(b), p.now)
		}
	}
}

func (p *Pool) rateOf(b *purse) float64 {
	return max(b.Rate-float64(p.silent)*b.safeRate, b.Rate/2)
}

// bucket is a purse as the scheduler has it.
func (p *Pool) bucket(b *purse) budget.Bucket {
	out := budget.Bucket{
		Name: b.Name, Kind: b.Kind, Rate: b.rate, Capacity: b.Capacity, Window: b.Window, StartEmpty: true,
	}
	if b.Kind == budget.Slots {
		out.Capacity = math.Max(0, b.shared(p.cfg.MaxHolders)-b.unknown-b.outside)
		out.Limit = b.Capacity
	}
	return out
}

// schedule is the scheduler's configuration.
func (p *Pool) schedule() budget.Config {
	cfg := budget.Config{Lanes: p.cfg.Lanes}
	for _, b := range p.purses {
		if b.Kind == budget.Continuous {
			b.rate = p.rateOf(b)
		}
		cfg.Buckets = append(cfg.Buckets, p.bucket(b))
	}
	return cfg
}

// reslot tells the scheduler how many slots there are to share.
func (p *Pool) reslot() {
	for _, b := range p.purses {
		if b.Kind == budget.Slots {
			p.sched.Ensure(p.bucket(b), p.now)
		}
	}
}

func (p *Pool) index() {
	p.byName, p.lanes = map[string]int{}, map[string]int{}
	for i, b := range p.purses {
		p.byName[b.Name] = i
	}
	for i, l := range p.cfg.Lanes {
		p.lanes[l.Name] = i
	}
}

func (p *Pool) bind() {
	for _, b := range p.purses {
		b.id, _ = p.sched.Bucket(b.Name)
	}
}
