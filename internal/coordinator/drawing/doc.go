// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package drawing turns what gateways say on the wire into what pools read, and what pools grant into what is sent.
//
// Invariants: nothing that a message names gets through unless the plan's route has it; who draws is said by the caller,
// never by the message; a message with more than its bounds is refused whole.
//
// It is pure, and imports the pool and the wire only: no Kubernetes, so that it is fuzzed with the other parsers.
package drawing
