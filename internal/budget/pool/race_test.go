// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build race

package pool

// histories are fewer with the race detector, which makes each cost tenfold.
const histories = 400
