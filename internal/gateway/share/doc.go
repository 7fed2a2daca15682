// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package share brings what the coordinator's stream carries to the gateway's data plane, and its figures and draws back: the
// adapters between report and proxy.
//
// Invariants: no message holds more than wire's bounds, whatever is drawn; a grant that does is ignored whole, and a number in
// one that means nothing (not a number, negative) is nothing.
//
// It imports wire, proxy and internal/budget/pool, and no Kubernetes.
package share
