// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sharing lets one route of a gateway spend what it is granted of budgets that other gateways spend too: an
// admission.Gate that decides which call goes, and a pool.Holder that knows what may be spent.
//
// A [Member] offers what callers use of a gate, and beside it what its owner exchanges with the pool, whatever lies between:
//
//	m.Draw(now) → pool.Report ─→ pool or ledger ─→ pool.Grant → m.Receive(grant, now)
//
// Draw is due when Due says so; Options.Hastened tells that it has become due earlier.
//
// How it works: the gate's limits are fed. With a lease their levels are the holder's balances, and what the gate takes is
// charged to the holder. Without one the gate fills them by itself at the safe share, and they hold no more than a small call, or
// what the first in a queue collects. A call that takes more than an interval brings waits aside, at no gate: the pool grants it as a whole, by its
// lane's share of what all gateways have, and then it enters the gate and goes.
//
// Invariants, each pinned by a test:
//   - nothing is spent but what was granted, and only while the lease lasts, on a clock that counts suspension; settlements
//     may exceed it, and are paid by the next grants; without a lease no more than the outage mode allows;
//   - no call waits for a message where what it takes is in hand;
//   - a ticket that waits, aside or at the gate, ends in exactly one decision, or when its caller leaves; whoever releases it
//     ends it;
//   - no outage by itself has a call refused that its safe share would serve in time, and nothing that was spent in one is
//     spent again after it;
//   - what waits aside is bounded like a gate's queue; nothing grows with time, edits or what a leader says.
//
// It locks itself, and calls its owner with its lock held only to say that something is to be done. It starts no goroutine:
// one timer is set while something waits. It imports admission, budget, pool, ledger (how a limit becomes a budget) and plan;
// no wire and no proxy.
package sharing
