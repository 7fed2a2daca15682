// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"math"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

// Known is what a leader knows of a budget for certain, since it led another pool that had it: budgets come and go with edits,
// and move from one pool to another.
type Known struct {
	Name string
	// Level is P, or what is owed when below zero.
	Level float64
	// Outstanding is what holders of the earlier pool have at the most.
	Outstanding float64
	// Published is the bound on that which the next leader will find, see State.
	Published float64
	// Capacity is what it was.
	Capacity float64
}

// Known is what is to be handed over to another pool of the same leader, when this one is not used any longer.
func (p *Pool) Known(now time.Time) []Known {
	p.tick(now)
	out := make([]Known, 0, len(p.purses))
	for _, b := range p.purses {
		if b.retired {
			continue
		}
		k := Known{Name: b.Name, Outstanding: b.held + b.unknown, Published: b.most, Capacity: b.Capacity}
		if b.Kind == budget.Slots {
			// Those that wait to come back are in use for all that is known.
			for _, s := range p.idle {
				if s.purse == b {
					k.Outstanding++
				}
			}
		} else {
			k.Level = p.level(b)
		}
		out = append(out, k)
	}
	return out
}

// Resume begins budgets with what is known of them; it is to be called at once after New, or after the Apply that brought them. P is at most what it was, less in
// proportion if the capacity shrank, and holders bring what they have when they report, within a TTL.
func (p *Pool) Resume(known []Known, now time.Time) {
	p.tick(now)
	// Whom an earlier leader named may not be all that have of these.
	p.awaited = nil
	for _, k := range known {
		if b, ok := p.byName[k.Name]; ok && b.of == nil && !b.retired {
			p.touch(b)
			p.resume(b, k)
			p.relearn(b)
		}
	}
	p.reslot()
	p.flush()
}

// relearn has what may be out of a budget end in a TTL, and what may be of others no sooner.
func (p *Pool) relearn(b *purse) {
	if b.unknown <= 0 {
		return
	}
	if end := p.now.Add(p.longest(p.cfg.TTL)); p.learned.Before(end) {
		p.learned = end
	}
	if end := p.learned.Add(p.longest(p.cfg.Drain)); b.Kind == budget.Slots && p.drained.Before(end) {
		p.drained = end
	}
	p.meet(p.learned)
}

func (p *Pool) resume(b *purse, k Known) {
	room := b.Capacity
	if b.Kind == budget.Slots {
		room = b.shared(p.cfg.MaxHolders)
	}
	b.unknown = min(clean(k.Outstanding), room)
	b.published = true
	b.most = min(max(clean(k.Published), b.unknown), b.Capacity)
	b.wanted = 0
	if b.Kind == budget.Slots {
		return
	}
	// P is to be what is known, with nothing of before.
	p.cover(b, math.Inf(-1))
	b.lift = 0
	level := k.Level
	if level > 0 && k.Capacity > b.Capacity {
		level *= b.Capacity / k.Capacity
	}
	b.debt = max(0, -level)
	p.sched.Lower(b.id, min(level, 0), p.now)
	p.sched.Raise(b.id, min(level, p.room(b)), p.now)
}
