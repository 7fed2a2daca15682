// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package storeurl judges the servers that URLs of stores name, for all stores alike: deferred calls' and budgets'.
//
// It imports the standard library only.
package storeurl
