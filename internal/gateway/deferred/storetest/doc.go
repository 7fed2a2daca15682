// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package storetest is what every store of deferred calls must do, as tests.
//
// It is for tests only: nothing that ships may import it.
package storetest
