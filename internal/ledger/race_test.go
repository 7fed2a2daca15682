// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build race

package ledger

const histories = 60
