// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package deferred keeps calls that could not be made in time, and has them made later without their callers.
//
//	proxy refuses a call → Take (stored, then 202) → Make through the proxy's own path → answer stored → GET, or callback
//
// Invariants: a call for which Take returned is made, or becomes a dead letter that says why, whatever happens to the
// process; it carries an idempotency key on every attempt, the caller's own or the ticket's ID, so that an attempt
// repeated after a crash is recognised by the provider; an attempt is noted in the store before it leaves; nothing that
// is kept holds a credential; calls, bytes, dead letters, attempts, ages, deliveries and goroutines are bounded.
//
// It imports package proxy for what a call is, and the stores by their interface alone.
package deferred
