// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

// State is what a leader publishes for the next one.
type State struct{ Budgets []BudgetState }

// BudgetState is one budget's.
type BudgetState struct {
	Name string
	// Debt is how far the level is below zero.
	Debt float64
	// Outstanding is more than holders may ever have before another state is published; 0 if not known.
	Outstanding float64
}

// State is what is to be published: at the start, whenever Stale says so, and now and then for the debt. A bound that
// shrinks is in force at once, one that grows when it is Published.
func (p *Pool) State(now time.Time) State {
	p.tick(now)
	var s State
	for _, b := range p.purses {
		if b.retired {
			continue
		}
		state := BudgetState{Name: b.Name, Outstanding: max(b.Outstanding, b.wanted, b.held+b.unknown)}
		b.most, b.published = min(b.most, state.Outstanding), true
		if b.Kind == budget.Continuous {
			state.Debt = max(0, -p.level(b))
		}
		s.Budgets = append(s.Budgets, state)
	}
	return s
}

// Stale says that a grant waits for a state to be published.
func (p *Pool) Stale() bool {
	for _, b := range p.purses {
		if b.wanted > b.most {
			return true
		}
	}
	return false
}

// Published says that a state is where the next leader will find it.
func (p *Pool) Published(s State) {
	for _, state := range s.Budgets {
		if b, ok := p.byName[state.Name]; ok {
			b.published = true
			b.most, b.wanted = max(b.most, min(clean(state.Outstanding), b.largest())), 0
		}
	}
}

// Figures are a pool's at one time.
type Figures struct {
	// Budgets are the budgets, then the shadows.
	Budgets []BudgetFigures
	Lanes   []budget.LaneSnapshot
	// Holders counts incarnations that may hold something, Silent expected holders that may be on their safe share.
	Holders, Silent int
	// Burns accumulates: incarnations that ended, or fell silent, holding something.
	Burns int
	// Expelled counts incarnations that hoarded.
	Expelled int
}

// BudgetFigures are one budget's.
type BudgetFigures struct {
	Name string
	// Level is P, Rate what it refills at beside the safe shares, Held is ΣH.
	Level, Rate, Held float64
	// Unknown is what an earlier leader's holders may have beside that.
	Unknown float64
	// Granted, Spent, Returned, Refunded and Burnt accumulate: Burnt is what silent holders had.
	Granted, Spent, Returned, Refunded, Burnt float64
	// Deposited and Withdrawn accumulate what came from a store, and what went back.
	Deposited, Withdrawn float64
}

// Figures takes the figures.
func (p *Pool) Figures(now time.Time) Figures {
	p.tick(now)
	p.flush()
	p.sched.Snapshot(p.now, &p.snap)
	out := Figures{Holders: len(p.accounts), Silent: p.silent, Burns: p.burns, Expelled: p.expulsions}
	out.Lanes = append(out.Lanes, p.snap.Lanes...)
	for _, b := range p.purses {
		if b.retired {
			continue
		}
		out.Budgets = append(out.Budgets, BudgetFigures{
			Name: b.Name, Level: p.level(b), Rate: b.rate, Held: b.held, Unknown: b.unknown,
			Granted: b.granted, Spent: b.spent, Returned: b.returned, Refunded: b.refunded, Burnt: b.burnt,
			Deposited: b.deposited, Withdrawn: b.withdrawn,
		})
	}
	return out
}

// Held is what an incarnation has of a budget: granted, not reported spent, not given back.
func (p *Pool) Held(key Key, name string, now time.Time) float64 {
	p.tick(now)
	a := p.accounts[key]
	if a == nil {
		return 0
	}
	for _, k := range a.books {
		if k.purse.Name == name {
			return k.outstanding()
		}
	}
	return 0
}
