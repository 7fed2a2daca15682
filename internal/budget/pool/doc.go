// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package pool shares budgets among many holders (gateways) so that all of them together spend no faster than one
// token bucket allows, whatever messages are lost, late, doubled or out of order, and whoever crashes.
//
// The [Pool] is the coordinator's side. For each budget it has a level P and, for each incarnation of a holder, the
// cumulative sum G that was granted and S that was reported spent; H = G − S − returned is outstanding. It refills by
// P += R·dt only while P + ΣH ≤ B', where B' is the burst less a guard. Who is granted what is decided by a
// [budget.Scheduler], whose lanes are tenant × lane: a large call is granted as one whole cost vector (a [Want] with
// Bulk set), small calls in slices of a bundle.
//
// The [Holder] is a gateway's side. It spends what it received and has not spent, and only while it holds a lease: until
// a TTL after it sent the newest report that was answered. Without a lease it has its safe share σ = R/2/MaxHolders.
//
// How an owner drives them (both are single-threaded, their owners lock):
//
//	h.Report(demand, now) → Report ─network→ p.Report(r, now); p.Advance(now)
//	p.Grant(key, now)     → Grant  ─network→ h.Receive(g, now)
//
// Each report is answered by a grant. Beyond that, p.Changed names who was granted something since it was last told,
// p.Next says when Advance is due, h.Due when a report is. h.Take spends, h.Settle corrects what was taken.
//
// Invariants, each pinned by a test:
//   - P + ΣH ≤ B' at every moment, and P plus the holders' true balances never exceed it: for every interval what is
//     spent is at most B' + R·length and the debt of settlements;
//   - counters are cumulative and receivers take the maximum; a [Term] (epoch, opening) fences what came before;
//   - only a holder's own report gives something back; who is silent past the TTL has spent what it held;
//   - a leader starts with nothing (or with the last one's debt), and takes what the one before may have granted for
//     outstanding until that cannot be spent any longer;
//   - no report, whatever its numbers, raises another's balance or breaks the first invariant;
//   - holders, incarnations, lanes, wants and remembered ones that ended are bounded.
//
// The package is pure: the time is an argument, it starts no goroutine and takes no lock. It imports the standard
// library and internal/budget alone.
package pool
