// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package credentials holds the provider keys mounted beside the gateway: a directory with one file a key
// and, beside each, <key>.hosts with the hosts the key may be sent to.
//
// Invariants: a key leaves over https to a listed host only; no error, log line or String method holds a
// key; a directory or a key that cannot be read keeps what was read last.
//
// It imports the standard library and internal/sidecar only.
package credentials
