// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package bedrock is the dialect of Amazon Bedrock's runtime: Converse and InvokeModel with their event streams, and
// the OpenAI and Anthropic APIs beside them.
//
// Most of its requests are signed. A signed request passes as it came, byte for byte, and is metered, but it is only
// valid where it was signed for the provider's own host and path: by a client that signs first and is led to the
// gateway beneath that. An app that signs for the gateway's address needs the gateway's own key in place of its
// signature, or a key of its own, which is sent as it is.
//
// Invariants: no signed request is changed, but for a key that takes the place of the whole signature; accounts are
// told apart by the name of the access key, not by signatures, of which no two are alike.
//
// It imports the standard library, gjson, the dialect contract, the readers beneath it, the framing of event streams
// and the dialects of Anthropic and OpenAI.
package bedrock
