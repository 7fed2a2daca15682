// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cerebras is the dialect of Cerebras' API: OpenAI's, with a bucket for each of minute, hour and day under
// names that say so, and flat error bodies that tell the account's limits from a full queue.
//
// It imports the standard library, the dialect contract and package compatible.
package cerebras
