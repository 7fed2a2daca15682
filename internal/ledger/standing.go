// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"time"

	"github.com/headgate-dev/headgate/internal/budget/pool"
)

// Standing says how a pool's external budgets stand.
func (l *Ledger) Standing(k Key, now time.Time) pool.Standing {
	l.settle(now)
	if s := l.pools[k]; s != nil {
		return s.pool.Standing(now)
	}
	return pool.Standing{}
}

// Supply says what may be expected to come of one of a pool's external budgets in a second, by class.
func (l *Ledger) Supply(k Key, name string, perSecond []pool.Allotment) {
	if s := l.pools[k]; s != nil {
		s.pool.Supply(name, perSecond)
	}
}
