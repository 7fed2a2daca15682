// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"maps"
	"slices"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/budget/pool"
)

// tenant is a namespace's part of an account.
type tenant struct {
	// guaranteed is g, of 1; lendable the part of it that others may use, borrowing what may be used beside it, below 0
	// without bound.
	guaranteed, lendable, borrowing, weight float64
	// routes count those that draw, lanes are theirs.
	routes int
	lanes  []string
}

// tenantsOf are those that draw on an account, by namespace. Guarantees beyond all there is shrink in proportion.
func tenantsOf(a *Account, routes []*route) map[string]*tenant {
	out := map[string]*tenant{}
	for _, r := range routes {
		t := out[r.id.Namespace]
		if t == nil {
			t = &tenant{lendable: 1, borrowing: -1, weight: 1}
			out[r.id.Namespace] = t
		}
		t.routes++
	}
	sum := 0.0
	for i := range a.Tenants[:min(len(a.Tenants), MaxTenants)] {
		t := &a.Tenants[i]
		sum += percent(t.GuaranteedPercent, 100)
		if of := out[t.Namespace]; of != nil {
			of.follow(t)
		}
	}
	for _, t := range out {
		t.guaranteed /= max(sum, 1)
	}
	return out
}

func (t *tenant) follow(spec *Tenant) {
	t.guaranteed = percent(spec.GuaranteedPercent, 100)
	if spec.LendablePercent != nil {
		t.lendable = percent(*spec.LendablePercent, 100)
	}
	if spec.BorrowingLimitPercent != nil {
		t.borrowing = percent(*spec.BorrowingLimitPercent, 1000)
	}
	if spec.Weight > 0 {
		t.weight = float64(spec.Weight)
	}
}

func percent(p, most int32) float64 { return float64(min(max(p, 0), most)) / 100 }

// divide adds what bounds tenants: their weights, what they do not lend, and shadows for borrowing limits on the account's own
// budgets, which come first.
func (o *layout) divide(tenants map[string]*tenant, own int) {
	for _, name := range slices.Sorted(maps.Keys(tenants)) {
		t := tenants[name]
		if len(t.lanes) == 0 {
			continue
		}
		o.cfg.Groups = append(o.cfg.Groups, budget.Group{Name: name, Weight: t.weight, Unlent: 1 - t.lendable})
		if t.borrowing < 0 || t.guaranteed+t.borrowing >= 1 {
			continue
		}
		if len(o.cfg.Shadows)+own > o.mostShadows() {
			o.unbounded++
			continue
		}
		most := t.guaranteed + t.borrowing
		for _, b := range o.cfg.Budgets[:own] {
			if b.Kind == budget.Continuous {
				o.cfg.Shadows = append(o.cfg.Shadows, pool.Shadow{
					Name: b.Name + "@" + name, Of: b.Name, Lanes: t.lanes, Rate: most * b.Rate, Capacity: most * b.Capacity,
				})
			}
		}
	}
}

// mostShadows is for how many there is room. A store has budgets and shadows in one draw.
func (o *layout) mostShadows() int {
	if o.external {
		return max(0, maxBudgets-len(o.cfg.Budgets))
	}
	return maxShadows
}
