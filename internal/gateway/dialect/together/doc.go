// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package together is the dialect of Together AI's API: OpenAI's, with limits per second that follow the account's
// use, and 503 for what fails within them.
//
// It imports the standard library, the dialect contract and package compatible.
package together
