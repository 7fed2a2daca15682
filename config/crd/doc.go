// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package crd holds the CRDs to what every supported API server can install. Its tests read the generated schemas; it has
// no code, and imports nothing of Headgate's.
package crd
