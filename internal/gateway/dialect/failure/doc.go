// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package failure reads error bodies: what a provider's machine codes and words are, whatever shape they
// come in (wrapped, flat, in an array, in a string, compressed, HTML or nothing), and how a status alone is
// classed. Which code means what is each dialect's own.
//
// Invariants: it never fails and never panics; it reads a bounded part of a body, compressed or not; no message it returns
// holds anything that looks like a key.
//
// It imports the standard library, gjson, coding, guidance and the dialect contract.
package failure
