// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package anthropic is the dialect of Anthropic's messages API.
//
// It imports the standard library, the dialect contract and the readers beneath it.
package anthropic
