// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package huggingface is the dialect of Hugging Face's router: OpenAI's API before many providers, and each one's own
// API below its name. Limits come in the fields of the IETF's draft, credits are a month's.
//
// It imports the standard library, the dialect contract and package compatible.
package huggingface
