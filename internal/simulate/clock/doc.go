// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package clock is a simulation's time: a queue of what is to happen, worked off in order.
//
// Invariants: time never goes back; what is due at the same moment happens in the order in which it was asked for,
// so that the same run is the same to the last event; the number of pending events is bounded.
//
// It imports the standard library only, starts no goroutine and never reads the machine's clock.
package clock
