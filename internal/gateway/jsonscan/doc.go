// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package jsonscan finds a few values in JSON without decoding it: a Scanner walks a body held in memory,
// a Stream watches one that passes in pieces. Both cost about the memory bandwidth of the text, because
// what is not wanted (long strings above all) is skipped, not parsed.
//
// Invariants: neither panics on any input; both are linear in its length; a Stream's memory is bounded
// whatever passes. Neither checks the grammar of what it skips beyond the balance of quotes and brackets:
// the provider is the judge of that.
//
// It imports the standard library only.
package jsonscan
