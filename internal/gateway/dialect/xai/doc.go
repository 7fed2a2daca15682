// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package xai is the dialect of xAI's API: OpenAI's and, beside it, Anthropic's, with errors whose message is a
// string of its own, and one sentence about spent credits under three statuses.
//
// It imports the standard library, the dialect contract and package compatible.
package xai
