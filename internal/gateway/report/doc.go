// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package report is the gateway's side of the stream to the coordinator: it reports every second, takes
// plans and shares, follows the leader, and says when a share has lapsed.
//
// Invariants: nothing here delays or fails a call; a share is acted on for its TTL and no longer, on a clock
// that counts suspension; shares of a leader before the newest one count for nothing; one stream at a time;
// reconnection is jittered and bounded; the token is read anew for each stream and never logged.
//
// It imports wire, Connect and the standard library: no Kubernetes, no proxy, no plan. What it needs of them
// are its interfaces.
package report
