// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package spool reads request bodies so that they can be metered and sent again, within one memory budget
// for the whole gateway.
//
// Invariants: the bytes held never exceed the budget; a body larger than MaxReplayable is never held
// whole but streamed through after its prefix, and cannot be replayed; what was taken from the budget is
// given back exactly once. A body of a packet or less is given back with its owner, though a transport may have it to the end
// of its own write.
//
// It imports the standard library only.
package spool
