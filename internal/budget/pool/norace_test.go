// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package pool

// histories is how many random histories a run of the tests looks at.
const histories = 4000
