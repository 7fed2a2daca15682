// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package plan is the contract between the controller and the gateway: versioned JSON that says what
// every policy of one namespace means, with all defaults filled in.
//
// Invariants: a plan holds no Kubernetes types and no secrets; its revision only ever grows, also over
// the deletion of the object that carries it; policies are in order of precedence, so that the first that
// selects a pod and has the route governs it; Parse accepts only what Validate accepts.
//
// A reader ignores fields it does not know, so that a field which is safe to ignore can be added; a field
// that must not be ignored raises Version, and readers that are too old then refuse the plan whole.
//
// It imports the standard library and internal/dialect only.
package plan
