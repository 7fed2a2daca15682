// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package decide says what becomes of a call whose attempt failed: whether it goes again, when, and if not,
// why not.
//
//	guided:   wait = max(reported + U(0, jitter·max(reported, 1 s)), backoff)
//	unguided: backoff = max(least, U(0, min(cap, base·2^(attempt-1)))), or from half of it upwards
//
// Invariants: nobody goes before the time the provider stated; a wait above the ceiling is neither shortened
// nor slept; what cannot fit the deadline is decided before sleeping; jitter is cut to the deadline, the
// stated wait never; the number of attempts and the deadline bound everything.
//
// A Breaker is apart from all that: while a model is overloaded it keeps every call of it back but one at a time,
// whatever the calls' own attempts and waits are.
//
// It is pure: time and chance are arguments. It imports the standard library only, so that a simulator and
// the gateway share it.
package decide
