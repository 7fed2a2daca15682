// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package text writes what a simulation found as a person would want to read it: who waited, who was declined and why,
// what the provider saw, what each lane was promised and got, and all of it beside the baselines.
//
// Invariants: the same result gives the same text; a figure that is not there is a dash and never a 0.
//
// It imports the standard library and package result.
package text
