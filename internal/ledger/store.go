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

// Budgets are what a pool shares, by its own names: those of an account have the names that the account gives them, a
// route's own in an account's pool are NAMESPACE/POLICY/PROVIDER:LIMIT. They are not to be changed.
func (l *Ledger) Budgets(k Key) []pool.Budget {
	if s := l.pools[k]; s != nil {
		return s.cfg.Budgets
	}
	return nil
}

// Needs says what is to be drawn on the store for a pool.
func (l *Ledger) Needs(k Key, now time.Time) pool.Needs {
	l.settle(now)
	if s := l.pools[k]; s != nil {
		return s.pool.Needs(now)
	}
	return pool.Needs{}
}

// Deposit brings what the store gave into a pool. What does not fit is left: it is to go back. Advance is due then.
func (l *Ledger) Deposit(k Key, amounts []pool.Amount, now time.Time) (left []pool.Amount) {
	l.settle(now)
	s := l.pools[k]
	if s == nil {
		return amounts
	}
	l.touch(s)
	return s.pool.Deposit(amounts, now)
}

// Surplus takes out of a pool what nobody waits for, but what the rate brings in the time to keep. It goes back to the store.
func (l *Ledger) Surplus(k Key, keep time.Duration, now time.Time) []pool.Amount {
	l.settle(now)
	if s := l.pools[k]; s != nil {
		return s.pool.Surplus(now, keep)
	}
	return nil
}
