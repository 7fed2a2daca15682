// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build race

package coordinator_test

// manyGateways is fewer with the race detector, which makes each cost tenfold.
const manyGateways = 200
