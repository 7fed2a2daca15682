// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package registry finds the dialect a plan names.
package registry
