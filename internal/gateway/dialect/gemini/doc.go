// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package gemini is the dialect of the Gemini API: Google's own methods of models, and the OpenAI API beside them.
//
// It imports the standard library, the dialect contract and packages google and openai.
package gemini
