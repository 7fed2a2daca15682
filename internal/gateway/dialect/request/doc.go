// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package request reads what a call may cost from its JSON body, and asks a stream for its usage by a splice.
//
// It knows the members that OpenAI's, Anthropic's and compatible APIs meter by, in one pass, without
// decoding the body: images, audio and documents cost a constant instead of their base64, tool definitions
// and tool calls their whole length, other members their strings.
//
// Invariants: it never fails; a body it cannot read costs its length, which no reading exceeds by more than
// its media; every byte outside the splice stays as it was.
//
// It imports the standard library, the scanner and the dialect contract.
package request
