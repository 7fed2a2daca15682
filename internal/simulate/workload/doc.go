// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package workload reads what a simulation is to play: which calls come, what the providers really enforce, what goes
// wrong meanwhile, and what is expected of it all.
//
// Invariants: every default is resolved here; an error names the field by its path, and an unknown field is one;
// everything is bounded, so that no file makes a simulation endless; no input makes it panic.
//
// It imports the standard library, a YAML reader and internal/plan's names of budgets.
package workload
