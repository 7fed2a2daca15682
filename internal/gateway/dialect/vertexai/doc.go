// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package vertexai is the dialect of Vertex AI: Google's own methods of models, Anthropic's messages and the
// OpenAI API, each behind the path of a project and a location, or behind none with an express key.
//
// It imports the standard library, the dialect contract and packages google and openai.
package vertexai
