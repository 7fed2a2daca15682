// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package policy turns RateLimitPolicy objects into a plan. It is pure: the same objects and inputs give the
// same plan and outcomes, whatever the order of the objects and the time of day (which only numbers
// revisions).
//
// Invariants: every default is resolved here and nowhere else, and stored objects are never changed; a
// policy is in the plan only if Validate finds nothing; what Compile makes, plan.Validate accepts; a plan
// with the same content as the one before keeps its revision; no input makes it panic.
//
// Validate repeats every rule of the CRD's schema, because a policy read from a file has met no API server,
// and adds the rules of meaning that a schema cannot hold. Schema rules come first: rules of meaning may
// rely on them.
//
// It is linked into the gateway, so it imports the standard library, apimachinery, api/v1alpha1,
// internal/plan and internal/dialect only; never client-go or controller-runtime.
package policy
