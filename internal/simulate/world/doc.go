// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package world plays a workload: callers that offer calls, the network, the providers that judge them, and the clock.
// What stands between callers and providers is a Client: Headgate, or what an app does without it.
//
// Invariants: a run is a function of workload, policy and seed, to the last bit; the calls that are offered are the
// same whatever the client does, so that results can be compared; each call is counted just once, and offered =
// succeeded + declined + deferred + failed + unfinished; the provider judges by package referee and nothing else.
//
// It decides nothing that Headgate decides, but for the lane a stream asks for by name, and therefore never imports
// internal/budget.
package world
