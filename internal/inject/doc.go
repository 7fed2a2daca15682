// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package inject turns a pod into the same pod with a gateway beside its containers.
//
// Invariants: Inject is pure and idempotent, so that reinvocation is harmless. The gateway is a native
// sidecar, first when it is added and never moved or rebuilt afterwards, because another webhook may
// have changed it for a reason (a registry mirror, for one). What the app says wins over what injection
// would say, and what cannot be known is reported as unknown, never claimed. Diff describes the change
// by the smallest edits, so that fields this version does not know survive.
//
// It must not import client-go or controller-runtime, read a clock, or talk to anything.
package inject
