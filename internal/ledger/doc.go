// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ledger keeps the pools of all that is shared: one for each ProviderAccount, with its limits and the own limits
// of all policies that refer to it, and one for each provider of a policy without an account. It knows which pool a route
// draws on, translates the names of its plan into those of the pool and back, and lets pools follow edits of plans and
// accounts.
//
// How an owner drives it (it is single-threaded, its owner locks):
//
//	l.SetPlan, l.SetAccounts                what there is
//	l.Lead, l.Extend                        from when and until when it leads
//	l.Expect, l.Forget                      which gateways there are
//	l.Report, l.Advance, l.Changed, l.Grant as with a pool, by route
//	l.Stale, l.State, l.Published           what the next leader must know
//	l.Figures                               what status shows
//
// Invariants, each pinned by a test:
//   - for each limit, P and what its holders have never exceed B' over any edit: a limit begins with nothing, or with no
//     more than it had when it was last seen;
//   - a route reaches the limits and lanes of its own plan and of its account, and no others;
//   - no namespace sees another's names;
//   - what a document says of the leader before never raises what may be spent: one that is damaged, foreign or older
//     counts as none, and then all of each limit counts as outstanding;
//   - routes, accounts, pools, lanes, holders, what is remembered and the document are bounded.
//
// The package is pure: the time is an argument, it starts no goroutine and takes no lock. It imports the standard library,
// internal/budget, internal/budget/pool and internal/plan alone.
package ledger
