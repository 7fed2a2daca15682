// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package openrouter is the dialect of OpenRouter's API: OpenAI's and Anthropic's before many providers, whose
// failures it passes on in its own wrapping, also inside answers that began as successes.
//
// It imports the standard library, the dialect contract and package compatible.
package openrouter
