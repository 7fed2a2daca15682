// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package loop brings time and a store to a budgetstore.Drawer: it looks every 50 ms, or when it is told, which of a ledger's
// pools are to draw, has the store draw without holding the ledger, and brings back what was granted.
//
// Invariants, each pinned by a test:
//   - the ledger is touched by its [Owner] alone, and never while the store is waited for;
//   - at most two batches are under way, so that a store that answers nothing holds nothing up and grows nothing;
//   - each leadership has a drawer of its own;
//   - what is logged and counted holds no password and no name of a pool.
//
// It imports budgetstore, ledger and the client of Prometheus.
package loop
