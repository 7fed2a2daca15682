// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ticket is a deferred call as it is kept: what is to be made, how far that is, and how it is written down.
//
// Invariants: a ticket holds no credential, since the headers and the query that come into it are chosen by name; an
// ID has 128 random bits and is what gives access to the answer; a record that was not written whole, or was changed
// since, is recognised; bodies are kept beside the record, not in it.
//
// It imports the standard library only.
package ticket
