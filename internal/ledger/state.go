// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import "time"

// StateVersion is the newest version of a State. One of another version counts as none.
const StateVersion = 1

// State is what a leader publishes for the next one. Pools of which nothing unusual is to be known are in Usual alone.
type State struct {
	Version int    `json:"version"`
	Origin  string `json:"origin,omitempty"`
	// Epoch is the leader's, Sequence grows with each State of its.
	Epoch    uint64 `json:"epoch"`
	Sequence uint64 `json:"sequence"`
	// Usual has a digest of each pool that owes nothing and of which the usual part may be outstanding. A pool that is
	// neither here nor in Pools is unknown: all of it may be outstanding.
	Usual []byte      `json:"usual,omitempty"`
	Pools []PoolState `json:"pools,omitempty"`
	// Sum is over all the rest.
	Sum string `json:"sum,omitempty"`
}

// PoolState is one pool's.
type PoolState struct {
	Account   string        `json:"account,omitempty"`
	Namespace string        `json:"namespace,omitempty"`
	Policy    string        `json:"policy,omitempty"`
	Provider  string        `json:"provider,omitempty"`
	Budgets   []BudgetState `json:"budgets"`
}

// BudgetState is one budget's.
type BudgetState struct {
	Name string `json:"name"`
	// Debt is how far its level is below zero, Outstanding more than gateways may ever have.
	Debt        float64 `json:"debt,omitempty"`
	Outstanding float64 `json:"outstanding"`
}

// State is what is to be published: whenever Stale says so, and now and then for the debts.
func (l *Ledger) State(now time.Time) State { return State{} }

// Stale says that a State is to be published: a new leader's first, that of a pool that is new or was edited, or one for
// which a grant waits.
func (l *Ledger) Stale() bool { return false }

// Published says that a State is where the next leader will find it.
func (l *Ledger) Published(s State) {}
