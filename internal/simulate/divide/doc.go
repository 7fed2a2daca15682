// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package divide says which part of a limit each of several gateways gets, and when.
//
// Invariants: the parts of a limit's rate, or of its slots (of which each gateway has one at least), add up
// to at most the limit at every moment, not only when all is settled: a gateway grows only into what others
// have confirmed they gave up, or what they cannot hold any longer. Capacities may add up to more than the
// burst, since each must let the largest call pass; by how much is stated with the part.
//
// It is pure: no clock, no locks, no Kubernetes; it imports plan and the standard library.
package divide
