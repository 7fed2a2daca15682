// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build race

package budget

// fewer divides how many random systems the property tests try: the race detector makes each some ten times as slow,
// and there is no concurrency here that it could look at.
const fewer = 20
