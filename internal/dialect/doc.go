// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package dialect holds the facts of each provider's API that both halves of Headgate need: its default
// URL, the variables its SDKs read, how it charges and what its resets mean. What only the gateway
// needs, the parsers, is in internal/gateway/dialect.
//
// It imports the standard library only.
package dialect
