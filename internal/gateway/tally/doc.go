// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package tally counts what happens on a route, cumulatively since the gateway's start: the source of
// both the metrics and the reports to the coordinator.
//
// Invariants: every map is bounded and its labels are of closed sets, or of names a policy gives; no key,
// prompt or user is ever a label; counting costs atomics, and at most one short lock a call.
//
// It imports the standard library and internal/wire (for the bounds of waits).
package tally
