// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

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
	// Slots says that it counts slots: Capacity are those that no holder owns, Held those that are granted, Wanted what is
	// wanted beside them, and Safe what each holder owns.
	Slots            bool
	Capacity, Wanted float64
	// Claims are by class what is needed of it; nil of a shadow.
	Claims []Claim
}

// Standing says how external budgets stand.
func (p *Pool) Standing(now time.Time) Standing {
	p.tick(now)
	p.flush()
	s := Standing{Holders: len(p.holders)}
	for _, b := range p.purses {
		switch {
		case !b.External || b.retired:
		case b.Kind == budget.Slots:
			s.Budgets = append(s.Budgets, p.slotStanding(b))
		default:
			s.Budgets = append(s.Budgets, BudgetStanding{
				Name: b.Name, Level: p.level(b), Held: b.held, Unknown: b.unknown, Apart: max(0, b.Rate-b.rate), Safe: b.safeRate,
				Capacity: b.Capacity, Claims: p.claims(b),
			})
		}
	}
	return s
}

// Supply says what may be expected to come of an external budget in a second, by class: others draw on its store too.
func (p *Pool) Supply(name string, perSecond []Allotment) {
	if p.supplies == nil {
		p.supplies = map[string]supply{}
	}
	b, ok := p.byName[name]
	if !ok || !b.External {
		return
	}
	s := supply{of: p.supplies[name].of}
	if s.of == nil {
		s.of = make([]float64, len(p.groups))
	}
	clear(s.of)
	for _, a := range perSecond[:min(len(perSecond), MaxClaims)] {
		s.all += clean(a.Units)
		for g := range min(len(p.groups), len(s.of)) {
			if len(p.cfg.Groups) > 0 && p.groups[g].Name == a.Class {
				s.of[g] += clean(a.Units)
				s.told = true
			}
		}
	}
	p.supplies[name] = s
}

// supply is what comes of an external budget in a second, and by group which of it.
type supply struct {
	all  float64
	of   []float64
	told bool
}

// supplied is what comes of a budget in a second, as far as is known.
func (p *Pool) supplied(b *purse) float64 {
	if s, told := p.supplies[b.Name]; told && b.External {
		return min(b.rate, s.all)
	}
	return b.rate
}

// sureOf is what of a rate is sure to a group.
func (p *Pool) sureOf(b *purse, g int, left float64) float64 {
	if s := p.supplies[b.Name]; s.told && b.External && g < len(s.of) && s.all > 0 {
		return left * s.of[g] / s.all
	}
	return left * b.sure[g]
}
