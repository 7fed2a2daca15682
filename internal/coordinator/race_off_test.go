// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package coordinator_test

const manyGateways = 1000
