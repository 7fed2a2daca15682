// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package perplexity is the dialect of Perplexity's API: OpenAI's, whose chat has no version in its path while the
// rest has. It documents neither budgets nor waits.
//
// It imports the standard library, the dialect contract and package compatible.
package perplexity
