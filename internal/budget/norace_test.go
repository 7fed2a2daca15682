// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package budget

// fewer divides how many random systems the property tests try.
const fewer = 1
