// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"maps"
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/budget/pool"
)

// What draws on a store when the budgets are external.

// Pools appends the keys of all pools, in order.
func (l *Ledger) Pools(dst []Key) []Key {
	return append(dst, slices.SortedFunc(maps.Keys(l.pools), Key.compare)...)
}

// Budgets are what a pool draws on its store for, by its own names: those of an account have the names that the account gives
// them, a route's own in an account's pool are NAMESPACE/POLICY/PROVIDER:LIMIT, and what bounds a tenant's use of LIMIT is
// LIMIT@NAMESPACE. They are not to be changed, and are other ones after each edit.
func (l *Ledger) Budgets(k Key) []pool.Budget {
	if s := l.pools[k]; s != nil {
		return s.drawn
	}
	return nil
}

// drawnOf are the budgets of a configuration and its external shadows.
func drawnOf(cfg *pool.Config) []pool.Budget {
	out := slices.Clone(cfg.Budgets)
	for _, s := range cfg.Shadows {
		i := slices.IndexFunc(cfg.Budgets, func(b pool.Budget) bool { return b.Name == s.Of })
		if s.External && i >= 0 {
			b := cfg.Budgets[i]
			b.Name, b.Rate, b.Capacity, b.Lanes = s.Name, s.Rate, s.Capacity, nil
			out = append(out, b)
		}
	}
	return out
}

// Needs says what is to be drawn on the store for a pool.
func (l *Ledger) Needs(k Key, now time.Time) pool.Needs {
	l.settle(now)
	s := l.pools[k]
	if s == nil {
		return pool.Needs{}
	}
	out := s.pool.Needs(now)
	for i := range out.Of {
		out.Of[i].Key = s.laneNamed(out.Of[i].Lane)
	}
	return out
}

// laneNamed is what a lane is called by all ledgers that draw on one store.
func (s *shared) laneNamed(inPool string) string {
	for _, r := range s.routes {
		if name, ok := r.laneOf[inPool]; ok {
			return r.id.Namespace + "/" + r.id.Policy + "/" + r.id.Provider + "/" + name
		}
	}
	return inPool
}

// Allot brings into one of a pool's budgets what the store gave, and whose it is. What does not fit is left: it is to go back.
func (l *Ledger) Allot(k Key, name string, to []pool.Allotment, now time.Time) (left float64) {
	l.settle(now)
	s := l.pools[k]
	if s == nil {
		for _, a := range to {
			left += a.Units
		}
		return left
	}
	l.touch(s)
	return s.pool.Allot(name, to, now)
}

// Lease says how many slots of a budget the store lets a pool have. Advance is due then.
func (l *Ledger) Lease(k Key, name string, n float64, now time.Time) {
	l.settle(now)
	if s := l.pools[k]; s != nil {
		l.touch(s)
		s.pool.Lease(name, n, now)
	}
}

// Surplus takes out of a pool what nobody waits for, but what the rate brings in the time to keep. It goes back to the store.
func (l *Ledger) Surplus(k Key, keep time.Duration, now time.Time) []pool.Amount {
	l.settle(now)
	if s := l.pools[k]; s != nil {
		return s.pool.Surplus(now, keep)
	}
	return nil
}
