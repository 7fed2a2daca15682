// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package google holds what the Gemini API and Vertex AI have in common: the error document of Google's APIs, the
// methods behind a model's name, credentials, and the shape of refusals.
//
// Invariants: what cannot be read says nothing; a key never stays in a query that another key is put beside.
//
// It imports the standard library, gjson, the dialect contract and the readers beneath it, and the dialects of
// Anthropic and OpenAI, whose APIs Google serves too.
package google
