// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package credential puts keys into requests, takes them out, and tells accounts apart without knowing them.
//
// Invariants: a request that leaves with the gateway's key holds no other; a fingerprint cannot be turned
// back into a key, and differs from process to process.
//
// It imports the standard library only.
package credential
