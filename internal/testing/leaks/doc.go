// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package leaks looks for goroutines that the tests of a package leave behind, as goleak does, and gives those that are about to
// end the time for it: goleak alone waits for less than half a second, in which a busy machine may not run them once.
//
// Invariants: what is left after that fails the tests that passed; tests that failed are not looked at any further.
//
// It is for tests only; it imports goleak only.
package leaks
