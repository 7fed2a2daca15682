// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import "time"

// Standing is how external budgets stand: what their store is to know.
type Standing struct {
	Budgets []BudgetStanding
	// Holders may hold something or be on their safe shares.
	Holders int
}

// BudgetStanding is one external budget's.
type BudgetStanding struct {
	Name string
	// Level is P, Held is ΣH, Unknown what an earlier leader's holders may have beside that.
	Level, Held, Unknown float64
	// Apart is what holders that hear nothing may be spending in a second.
	Apart float64
	// Safe is what one holder may spend in a second that hears nothing.
	Safe float64
}

// Standing says how external budgets stand.
func (p *Pool) Standing(now time.Time) Standing {
	p.tick(now)
	p.flush()
	s := Standing{Holders: len(p.holders)}
	for _, b := range p.purses {
		if b.External {
			s.Budgets = append(s.Budgets, BudgetStanding{
				Name: b.Name, Level: p.level(b), Held: b.held, Unknown: b.unknown, Apart: max(0, b.Rate-b.rate), Safe: b.safeRate,
			})
		}
	}
	return s
}

// Supply says what may be expected to come of external budgets in a second: others draw on their store too.
func (p *Pool) Supply(perSecond []Amount) {
	if p.supplies == nil {
		p.supplies = map[string]float64{}
	}
	for _, a := range perSecond {
		if b, ok := p.byName[a.Budget]; ok && b.External {
			p.supplies[a.Budget] = clean(a.Units)
		}
	}
}

// supplied is what comes of a budget in a second, as far as is known.
func (p *Pool) supplied(b *purse) float64 {
	if most, told := p.supplies[b.Name]; told && b.External {
		return min(b.rate, most)
	}
	return b.rate
}
