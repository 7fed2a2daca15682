// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cohere is the dialect of Cohere's API in both its versions, and of the OpenAI API beside it.
//
// It imports the standard library, the dialect contract, the readers beneath it and packages compatible and openai.
package cohere
