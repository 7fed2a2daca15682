// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package result is what a simulation found: the JSON document that `kubectl headgate simulate -o json` prints, as
// Go types, so that the text, the page and the expectations read the same figures.
//
// Invariants: durations are seconds, amounts are the budget's own units; all figures are finite; every call that was
// offered after the warmup is exactly one of succeeded, declined, deferred, failed and unfinished; curves have at
// most MaxPoints points.
//
// It imports the standard library only.
package result
