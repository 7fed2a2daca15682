// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package faults holds the tests to the faults that users of gateways, SDKs, sidecars and operators like these really
// met. Each has an id, A1 to E13, and at least one test whose name begins with it; the comment of one of them says in a
// line what went wrong elsewhere, and in another what Headgate does:
//
//	// Fault A2: …
//	// Headgate: …
//
// The test of this package reads all tests of the repository, writes docs/faults.md from them (-update), and fails if a
// fault has no test, if two tests tell of the same fault, if a test that is counted on is skipped or is not built when
// the suite runs, or if the page is not what the tests say.
//
// It is for tests only, and imports nothing of Headgate's.
package faults
