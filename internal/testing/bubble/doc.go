// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package bubble runs tests of servers in simulated time.
//
// Invariants: time goes on for a while after all that a test defers and cleans up, so that servers' goroutines which end by
// their own timers are gone by then. An HTTP/2 connection that ends with an error, as one does whose peer goes in the middle of its
// headers, lives a second longer than its server; in a bubble whose test has returned no second ever passes.
//
// It is for tests only; it imports the standard library only.
package bubble
