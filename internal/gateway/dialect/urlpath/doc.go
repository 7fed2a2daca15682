// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package urlpath turns the paths that apps use into the ones a provider knows.
//
// Invariants: a result begins with exactly one slash, has no dot segments and no character that could end
// a path, so joined to a base URL it stays on that host and at or below that base; an encoded slash stays
// encoded; cleaning twice changes nothing.
//
// It imports the standard library only.
package urlpath
