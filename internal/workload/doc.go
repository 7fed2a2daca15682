// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package workload names what to restart to have a pod made anew, as kubectl spells it.
//
// It is pure: it reads the pod alone, never its owners, so that nobody needs a permission to read
// ReplicaSets and Jobs. The controller says it in status, the webhook in warnings; it imports neither, and
// no client.
package workload
