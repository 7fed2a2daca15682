// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"math"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

// Slots of an external budget are leased: the pool shares those that its store lets it have, and no others. Each holder owns
// some beside them, which are none of the store's.

// Lease says how many slots of an external budget the pool has of its store. What is in use beyond that stays so until the
// calls end.
func (p *Pool) Lease(name string, n float64, now time.Time) {
	p.tick(now)
	b := p.byName[name]
	if b == nil || !b.External || b.draws() {
		return
	}
	if n = math.Floor(clean(n)); n != b.leased {
		b.leased = n
		p.sched.Ensure(p.bucket(b), p.now)
		p.expectAt = 0
	}
}

// slotsOf are those that the pool shares.
func (p *Pool) slotsOf(b *purse) float64 {
	if b.External {
		return min(b.leased, b.shared(p.cfg.MaxHolders))
	}
	return b.shared(p.cfg.MaxHolders) - b.unknown
}

// slotsLacking are wanted and not here.
func (p *Pool) slotsLacking(b *purse) float64 {
	if !b.External || b.Kind != budget.Slots || b.retired {
		return 0
	}
	held, wanted := p.slotsUsed(b)
	return held + wanted - b.leased
}

// slotsUsed are those that are granted, and those that are wanted beside them or kept for the silent.
func (p *Pool) slotsUsed(b *purse) (held, wanted float64) {
	wanted = b.reserved
	for _, k := range b.users {
		held += float64(len(k.slots))
		if k.account.quiet.After(p.now) {
			wanted += k.slotsWanted()
		}
	}
	for _, i := range p.idle {
		if i.purse == b {
			held++
		}
	}
	return held, wanted
}

// slotStanding is how an external budget of slots stands.
func (p *Pool) slotStanding(b *purse) BudgetStanding {
	s := BudgetStanding{
		Name: b.Name, Slots: true, Unknown: b.unknown, Capacity: b.shared(p.cfg.MaxHolders), Safe: b.own(), Claims: p.claims(b),
	}
	s.Held, s.Wanted = p.slotsUsed(b)
	return s
}
