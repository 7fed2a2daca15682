// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package dialect reads what providers send, raw: which operation a request is and what it may cost,
// what a response's headers and body say of budgets and waits, how a failure is classed, what was billed.
// What the values mean for buckets and waits is decided elsewhere (internal/budget, internal/policy/decide).
//
// Invariants: a parser never panics, never returns a negative wait, and never turns "absent" or
// "malformed" into zero; a meter passes bytes unchanged and at once; no message it returns holds a key.
//
// It imports the standard library, gjson and internal/dialect; never api, client-go or controller-runtime.
package dialect
