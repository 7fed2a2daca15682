// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package standalone has a gateway share its limits with others without a coordinator: its routes draw on a ledger of the
// gateway's own, whose pools draw on a budget store that the others use too.
//
// Invariants, each pinned by a test:
//   - what routes are granted came from the store, or is the gateway's share while the store is not heard;
//   - no call waits for the store where something is in hand;
//   - at its end the gateway gives everything back.
//
// It imports the ledger, the loop of the budget store, and the routes of package proxy; no wire.
package standalone
