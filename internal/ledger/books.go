// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"time"

	"github.com/headgate-dev/headgate/internal/budget/pool"
)

// Held is what a gateway's incarnation has of a limit, by the plan's name: granted, not reported spent, not given back.
func (l *Ledger) Held(of Recipient, limit string, now time.Time) float64 {
	r := l.routes[of.Route]
	if r == nil || r.pool == nil || r.members[of.Holder] == nil {
		return 0
	}
	name, ok := r.budgets[limit]
	if !ok {
		return 0
	}
	return r.pool.pool.Held(pool.Key{Holder: r.members[of.Holder].name, Incarnation: of.Incarnation}, name, now)
}

// Burnt is what gateways had that ended or fell silent, in the pool that a route draws on since that began: how many, and
// units by the plan's names.
func (l *Ledger) Burnt(r Route, now time.Time) (gateways int, units map[string]float64) {
	units = map[string]float64{}
	rt := l.routes[r]
	if rt == nil || rt.pool == nil {
		return 0, units
	}
	f := rt.pool.pool.Figures(now)
	for _, b := range f.Budgets {
		if name, ok := rt.limits[b.Name]; ok {
			units[name] = b.Burnt
		}
	}
	return f.Burns, units
}
