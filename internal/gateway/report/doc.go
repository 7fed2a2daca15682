// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package report is the gateway's side of the stream to the coordinator: it reports every second, draws when that is due,
// takes plans and grants, and follows the leader.
//
// Invariants: nothing here delays or fails a call; draws are paced, and all of them are made anew on a new stream; one stream
// at a time; reconnection is jittered and bounded; the token is read anew for each stream and never logged.
//
// It imports wire, Connect and the standard library: no Kubernetes, no proxy, no plan. What it needs of them
// are its interfaces.
package report
