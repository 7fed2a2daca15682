// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package webhook answers admission requests: it injects gateways into pods and validates policies.
//
// Invariants: the handlers are thin; what they decide is in internal/inject and internal/policy. Pod
// injection never refuses a pod: whatever goes wrong, the pod is allowed as it came, with a warning.
// Handlers have no side effects, so a dry run is like any other request. They read only from caches,
// and wait for one no longer than readTimeout.
//
// It must not import internal/controller or anything of the gateway.
package webhook
