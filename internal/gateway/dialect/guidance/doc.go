// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package guidance reads what a response says about waiting and about budgets: Retry-After in all its
// forms, reset headers, hints in error bodies. One grammar serves every dialect; a dialect says only which
// headers and which phrases its provider uses.
//
// Invariants: nothing here panics, a wait is never negative, and what is absent or malformed is "no
// guidance", never zero. Where a value cannot be held exactly it is rounded up, so that nobody is early.
//
// It imports the standard library, gjson and the dialect contract.
package guidance
