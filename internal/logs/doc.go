// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package logs makes the log handler of every binary, so that all of them write alike: JSON lines, with
// times and lengths of time that a person reads.
//
// It imports the standard library only.
package logs
