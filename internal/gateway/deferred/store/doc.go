// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package store is what deferred calls are kept in: the interface, and what its implementations have in common.
//
// Invariants: Save returns when a crash of the gateway can no longer lose what was saved, and saves all of it or
// nothing; a change to a ticket that is no longer this gateway's is refused with ErrLost; Now never goes back.
//
// It imports the standard library and package ticket.
package store
