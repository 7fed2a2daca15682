// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package security holds docs/threat-model.md to the tests it names: each promise is followed by the names of tests, and
// each of those exists.
package security
