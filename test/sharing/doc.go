// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sharing measures what many gateways together send: real gateway binaries, a real coordinator over TLS that may
// be killed and replaced, and the simulated provider, which counts every arrival.
//
// Invariants: nothing in a test judges by what Headgate says of itself; the excess is of all intervals, from the
// provider's own record of arrivals; each run has real seconds, few by default and HEADGATE_SHARING_SECONDS of them else.
// Only a run of the latter kind, which has the machine for itself, judges by when calls arrive and how much is used: others
// show that nothing was certainly sent too early, and that calls go on.
//
// It is for tests only.
package sharing
