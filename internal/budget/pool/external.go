// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import "time"

// Needs is what waits for external budgets.
type Needs struct {
	// Small is what small calls need beyond what is here, at most two intervals' refill of each budget.
	Small []Amount
	// Bulk are large calls in the order in which they are to go, each with the whole of its cost less what is here.
	Bulk [][]Amount
}

// Deposit brings into external budgets what their store gave. What does not fit in is left: it is to go back.
func (p *Pool) Deposit(amounts []Amount, now time.Time) (left []Amount) {
	return amounts
}

// Needs says what is to be drawn on the store for external budgets.
func (p *Pool) Needs(now time.Time) Needs {
	return Needs{}
}

// Surplus takes out of external budgets what nobody waits for, but what the rate brings in the time to keep. It goes back to
// the store.
func (p *Pool) Surplus(now time.Time, keep time.Duration) []Amount {
	return nil
}
