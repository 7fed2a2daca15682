// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import "github.com/headgate-dev/headgate/internal/budget"

// Budgets come and go with edits. One that goes is retired: it keeps its books, so that what holders say of it later goes on
// counting, and refills no more. Where it comes back it begins with nothing, as a new one does, unless Resume says otherwise.

// fits says whether an edit can be put in force: no budget changes its kind or where it refills from, and there is room for
// those that come beside those that went.
func (p *Pool) fits(cfg *Config) bool {
	more := 0
	for _, b := range cfg.Budgets {
		k, known := p.byName[b.Name]
		if known && (k.of != nil || k.Kind != b.Kind || k.External != b.External) {
			return false
		}
		if !known {
			more++
		}
	}
	for _, s := range cfg.Shadows {
		k, known := p.byName[s.Name]
		if known && (k.of == nil || k.of.Name != s.Of || k.External != (s.External && k.of.External)) {
			return false
		}
		if !known {
			more++
		}
	}
	return len(p.purses)+more <= maxPoolBudgets+maxShadows
}

// refurnish has the budgets and shadows of p.cfg, and no others.
func (p *Pool) refurnish() {
	stays := map[*purse]bool{}
	for _, to := range p.cfg.Budgets {
		b := p.byName[to.Name]
		if b == nil {
			b = p.newPurse(to, Leader{First: true})
			p.join(b)
		}
		p.restore(b, to)
		stays[b] = true
	}
	for _, s := range p.cfg.Shadows {
		b, of := p.byName[s.Name], p.byName[s.Of]
		if of == nil || of.of != nil || of.Kind != budget.Continuous {
			continue
		}
		if b == nil {
			b = p.newPurse(s.budget(of), Leader{First: true})
			b.of = of
			p.join(b)
		}
		p.restore(b, s.budget(of))
		b.lanes, b.safeRate, b.safeBurst = s.Lanes, of.safeRate, of.safeBurst
		stays[b] = true
	}
	for _, b := range p.purses {
		if !stays[b] && !b.retired {
			p.retire(b)
		}
	}
}

func (p *Pool) join(b *purse) {
	b.id = budget.NoBucket
	p.purses = append(p.purses, b)
	p.byName[b.Name] = b
}

// restore edits a budget; one that was retired begins with nothing.
func (p *Pool) restore(b *purse, to Budget) {
	p.edit(b, to)
	if b.retired {
		b.retired, b.lift = false, 0
		p.sched.Lower(b.id, 0, p.now)
	}
}

// retire ends what waits for a budget.
func (p *Pool) retire(b *purse) {
	b.retired, b.Rate, b.wanted, b.Lanes = true, 0, 0, []LaneShare{}
	for _, k := range b.users {
		a := k.account
		for i, other := range a.books {
			if other != k {
				continue
			}
			for _, c := range a.claims {
				if c.left[i] > 0 || c.units[i] > 0 {
					p.unqueue(c)
					c.left[i], c.units[i] = 0, 0
				}
			}
		}
	}
}
