// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package manager wires the parts of the manager together: what cmd/manager runs, and what a test runs
// twice in one process.
//
// Invariants: every replica serves the webhooks and the coordinator's address, and answers gateways with
// the leader's address unless it leads; only the leader writes. What runs on which is decided here and
// nowhere else. Settings come from flags alone.
//
// It is the only package that may import controller, webhook and coordinator together.
package manager
