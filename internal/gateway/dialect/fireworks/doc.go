// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fireworks is the dialect of Fireworks AI's API: OpenAI's, with prompt and generated tokens limited apart,
// under limits that follow the account's use and headers that never say when.
//
// It imports the standard library, the dialect contract and package compatible.
package fireworks
