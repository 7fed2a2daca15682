// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package bucket is the arithmetic by which the simulated provider meters its callers. It is the referee
// in tests of Headgate's own budgets, so it shares no code with them and must never import internal/budget.
//
// Invariants: a level is never above the capacity; a clock that steps back refills nothing and takes
// nothing; what was spent equals start + refill - wasted - end at every moment; a refusal takes nothing.
//
// It imports the standard library only and never reads a clock.
package bucket
