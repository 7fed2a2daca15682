// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build race

package redisstore

// histories is how many there are of each kind of fault: few where each step costs ten.
const histories = 1
