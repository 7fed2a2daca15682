// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package awssdk makes clients of the AWS SDK steady against servers that answer within microseconds.
//
// Invariants: a request's bytes, headers and signature are what the SDK makes of them without this package.
//
// It is for tests only: nothing that ships may import it.
package awssdk
