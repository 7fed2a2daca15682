// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sdks runs real SDKs, each in a process of its own with the environment of an app into which the gateway
// was injected and with its default settings, through the real gateway binary, against a simulated provider. What
// comes of it is the table in docs/sdks.md, which `go test ./test/sdks -update` writes.
//
// Invariants: an SDK that cannot be run fails the test, it is never skipped; what an SDK does is read off from what
// the provider saw and from the SDK's own results, never from what the SDK's documents say.
package sdks
