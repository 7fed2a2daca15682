// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package share brings what the coordinator's stream carries to the gateway's data plane, and its figures
// back: the adapters between report and proxy.
//
// Invariants: a share that means nothing (not a number, negative) is left out, so that its limit runs on the
// safe share; an amount never exceeds the plan's, whatever the coordinator says, which is the data plane's
// own check.
//
// It imports report's messages (wire), proxy and admission, and no Kubernetes.
package share
