// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package jsonframe finds the JSON values of a stream in bytes that are written elsewhere: Lines takes one
// value a line (NDJSON, JSON Lines, JSON text sequences), Values the elements of an array, or documents one
// behind the other.
//
// Invariants: the values found do not depend on how the stream is cut; memory is bounded by MaxValue,
// whatever passes (a larger value is handed on in pieces and not kept); a value in one piece is not copied;
// nothing panics. Neither checks the grammar beyond the balance of quotes and brackets.
//
// It imports the standard library only.
package jsonframe
