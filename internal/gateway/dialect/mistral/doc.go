// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package mistral is the dialect of Mistral's API: OpenAI's, with windows in the headers' names, tokens of a month
// beside those of a minute, flat error bodies, and no word of when to come again.
//
// It imports the standard library, the dialect contract and package compatible.
package mistral
