// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package gateway is Headgate within a simulation: the production admission and the production retry rules, put
// together as the proxy does it, on simulated time.
//
//	answer → dialect (what it says) → admission (what it means for the buckets) → decide (what to do)
//
// Invariants: every decision is made by the packages that make it in production (admission, policy/decide, plan's
// match rule), this one only carries them out; a call holds its reservation for as long as it is under way, and every
// way out ends it exactly once.
//
// It imports no Kubernetes code and nothing that serves or sends.
package gateway
