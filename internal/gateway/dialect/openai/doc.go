// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package openai is the dialect of OpenAI's API: chat completions, responses, embeddings and the older
// completions. Other providers copy it; what differs there is in dialects of their own.
//
// It imports the standard library, the dialect contract and the readers beneath it.
package openai
