// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package metrics turns a gateway's figures into Prometheus metrics when they are scraped.
//
// Invariants: labels are names a policy gives, closed sets, or models bounded to 20 and "other"; never a pod,
// key or user. A call costs nothing here.
//
// It imports client_golang and the gateway's figures.
package metrics
