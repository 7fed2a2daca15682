// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package groq is the dialect of Groq's API: OpenAI's, with requests counted by the day and tokens by the
// minute under the same header names.
//
// It imports the standard library, the dialect contract and package compatible.
package groq
