// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package compatible is the dialect of providers that copy OpenAI's API, completed by a Spec: a table of
// headers, a classifier, and where the API begins. What a Spec leaves out is as with OpenAI.
//
// Invariant: a Spec holds tables and pure functions; two calls of one never see each other.
//
// It imports the standard library, gjson, the dialect contract, the readers beneath it and package openai.
package compatible
