// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package budgetstore lets several installations share budgets: each has pools whose budgets are External, and a [Drawer]
// that fills them from a [Store] which all share. What a pool is to gateways the store is to drawers, so the bound holds
// over both: the store's level and what all drawers have in hand never exceed B'.
//
// How an owner drives a drawer (it is single-threaded, its owner locks):
//
//	draws := d.Draws(accounts, now) → store.Draw, without the lock → d.Receive(draw, result, now)
//
// Invariants, each pinned by a test:
//   - counters are cumulative, so that a draw that is lost, late or made twice changes nothing;
//   - what a pool has in hand is told with each draw, and is never more than the store counts as outstanding, but for what
//     was refunded since;
//   - a drawer whose lease has ended brings into its pools no more than the share that the store left to it, and only what
//     exceeds what it had in hand;
//   - what a drawer does not need goes back.
//
// The package is pure: the time is an argument, it starts no goroutine and takes no lock. It imports the standard library,
// internal/budget and internal/budget/pool alone; package redisstore keeps the store, package loop brings the time.
package budgetstore
