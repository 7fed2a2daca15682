// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package referee is the simulated provider: what it really admits, charges and tells, whatever Headgate believes.
//
// Invariants: it judges by true buckets that share no code with internal/budget, which it must never import; a refusal
// takes nothing but, where the provider charges for it, a request; what it tells is headers and a body, in the words of
// the route's dialect, so that what reads them is read too.
//
// It imports the standard library, internal/dialect, internal/plan's names of budgets, internal/simulate/workload, and
// the arithmetic of internal/testing/fakeprovider/bucket.
package referee
