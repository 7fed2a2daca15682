// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package deepseek is the dialect of DeepSeek's API: OpenAI's with and without a version in the path, and Anthropic's
// beside it. It reports no budgets and no waits; while a call waits there, blank lines or comments keep it alive.
//
// It imports the standard library, the dialect contract and package compatible.
package deepseek
