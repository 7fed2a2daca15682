// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"cmp"
	"math"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

// Figures are a gate's levels at one time.
type Figures struct {
	Limits []LimitFigures
	Lanes  []budget.LaneSnapshot
	// InputCorrection is the learned factor on what the texts suggest.
	InputCorrection float64
	// Reserved is what admitted calls hold of all buckets together; 0 when none is under way.
	Reserved float64
}

// LimitFigures are one declared limit's.
type LimitFigures struct {
	Name, Budget      string
	Level, Capacity   float64
	HeldForLanes      float64
	Spent, Offered    float64
	Reserved          float64
	Binding           bool
	ProviderRemaining float64
	ProviderLimit     float64
	ProviderKnown     bool
	// ProviderBinding says that calls wait for what the provider allows, of some account.
	ProviderBinding bool

	// Effective is the part of the provider's rate that is used after refusals, 1 is all; of several accounts the
	// least.
	Effective float64
	// Outsiders is what others are taken to spend on the account in a second, in the limit's unit; of several the most.
	Outsiders float64
	// Disagreement is how far the mirror of the provider's bucket was above what its reports prove, or below, in the
	// limit's unit and smoothed; of several the furthest.
	Disagreement float64
}

// Figures takes the figures.
func (g *Gate) Figures(now time.Time) Figures {
	g.lock()
	defer g.unlock()
	var snap budget.Snapshot
	g.sched.Snapshot(now, &snap)
	byID := map[budget.BucketID]*budget.BucketSnapshot{}
	out := Figures{Lanes: snap.Lanes, InputCorrection: g.estimator.Correction()}
	for i := range snap.Buckets {
		byID[snap.Buckets[i].ID] = &snap.Buckets[i]
		out.Reserved += snap.Buckets[i].Reserved
	}
	for _, l := range g.limits {
		f := LimitFigures{Name: l.Name, Budget: l.Budget, Effective: 1}
		if b := byID[l.id]; b != nil {
			f.Level, f.Capacity, f.HeldForLanes = b.Level, b.Capacity, b.HeldForLanes
			f.Spent, f.Offered, f.Reserved, f.Binding = b.Spent, b.Offered, b.Reserved, b.Binding
		}
		g.reportedLocked(l, &f)
		g.adaptedLocked(l, &f, byID, now)
		out.Limits = append(out.Limits, f)
	}
	return out
}

// reportedLocked adds what the provider reported of the same budget: the scarcest of the accounts that
// the limit counts; mu is held.
func (g *Gate) reportedLocked(l *limit, f *LimitFigures) {
	for account, grp := range g.groups {
		m := grp.mirror(l.Budget)
		if m == nil || account.at != g.hereLocked() || !m.reported || !l.matches(account.Model) {
			continue
		}
		limit := m.limit
		if m.declared {
			limit = 0
		}
		// Both are one account's; of two that are as scarce, the larger one's, whatever the map's order.
		if f.ProviderKnown && cmp.Or(cmp.Compare(f.ProviderRemaining, m.remaining), cmp.Compare(limit, f.ProviderLimit)) <= 0 {
			continue
		}
		f.ProviderKnown, f.ProviderRemaining, f.ProviderLimit = true, m.remaining, limit
	}
}

// adaptedLocked adds how the accounts that the limit counts are taken; mu is held.
func (g *Gate) adaptedLocked(l *limit, f *LimitFigures, byID map[budget.BucketID]*budget.BucketSnapshot, now time.Time) {
	for account, grp := range g.groups {
		m := grp.mirror(l.Budget)
		if m == nil || account.at != g.hereLocked() || !m.known || !l.matches(account.Model) {
			continue
		}
		if b := byID[m.id]; b != nil && b.Binding {
			f.ProviderBinding = true
		}
		f.Effective = min(f.Effective, grp.adaptive.factor())
		f.Outsiders = max(f.Outsiders, m.outsiders.spend(m.rate, now))
		// Of two that are as far off, the one above, whatever the map's order.
		far := cmp.Or(cmp.Compare(math.Abs(m.disagreement), math.Abs(f.Disagreement)), cmp.Compare(m.disagreement, f.Disagreement))
		if far > 0 {
			f.Disagreement = m.disagreement
		}
	}
}
