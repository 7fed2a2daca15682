// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package loop

import (
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/budgetstore"
	"github.com/headgate-dev/headgate/internal/ledger"
)

// accounts are the ledger's pools that have external budgets.
func (l *Loop) accounts(led *ledger.Ledger) []budgetstore.Account {
	l.keys = led.Pools(l.keys[:0])
	out := make([]budgetstore.Account, 0, len(l.keys))
	for _, key := range l.keys {
		budgets := led.Budgets(key)
		if slices.ContainsFunc(budgets, func(b pool.Budget) bool { return b.External }) {
			out = append(out, budgetstore.Account{Name: name(key), Pool: ledgerPool{led, key}, Budgets: budgets})
		}
	}
	return out
}

// name is a pool's in the store. Pools of one name are one, whichever installation has them.
func name(k ledger.Key) string {
	if k.Account != "" {
		return "account/" + k.Account
	}
	return "policy/" + k.Route.Namespace + "/" + k.Route.Policy + "/" + k.Route.Provider
}

// ledgerPool is one pool of a ledger.
type ledgerPool struct {
	led *ledger.Ledger
	key ledger.Key
}

var _ budgetstore.Pool = ledgerPool{}

func (p ledgerPool) Standing(now time.Time) pool.Standing { return p.led.Standing(p.key, now) }

func (p ledgerPool) Supply(budget string, perSecond []pool.Allotment) {
	p.led.Supply(p.key, budget, perSecond)
}

func (p ledgerPool) Needs(now time.Time) pool.Needs { return p.led.Needs(p.key, now) }

func (p ledgerPool) Allot(budget string, to []pool.Allotment, now time.Time) float64 {
	return p.led.Allot(p.key, budget, to, now)
}

func (p ledgerPool) Lease(budget string, slots float64, now time.Time) {
	p.led.Lease(p.key, budget, slots, now)
}

func (p ledgerPool) Surplus(now time.Time, keep time.Duration) []pool.Amount {
	return p.led.Surplus(p.key, keep, now)
}
