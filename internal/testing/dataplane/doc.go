// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package dataplane runs the real gateway binary, alone, in front of a simulated provider, on the loopback
// address, for the tests of test/dataplane and test/sdks.
//
// Invariants: everything it starts ends with the test that started it, and a gateway that does not end well
// on its signal fails that test; so does one that logs, serves or keeps a key or a prompt that package canary has
// marked, at the debug level too. There is no cluster in it.
//
// It is for tests only: nothing that ships may import it, and it imports no package of the gateway, which it
// knows as a binary.
package dataplane
