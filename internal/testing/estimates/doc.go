// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package estimates holds the test of how far the gateway's estimates of input are from what is billed: requests made
// of the corpus, read as the gateway reads them, against the counts of a real vocabulary.
//
// It is apart from what it tests, so that only it links the vocabulary. What pictures cost, from a dialect to the gate,
// is tested here too.
package estimates
