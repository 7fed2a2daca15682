// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fuzzing tests how a fuzz run is judged: hack/fuzz.d/verdict.
package fuzzing
