// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package meter reads what a response was billed, and whether it came to its end, while its bytes pass.
//
// Three streams (chat completions and their older form, responses, messages) and JSON documents. An event
// is searched for the few names that matter before anything is parsed: deltas are never parsed.
//
// Invariants: the bytes handed on are the bytes that came, but for the one usage chunk that was asked for on
// the client's behalf; what is found does not depend on how they were cut; a cumulative value replaces the
// one before it and is never added; null, absent and negative values replace nothing; memory is bounded.
//
// It imports the standard library, gjson, sse, jsonscan and the dialect contract.
package meter
