// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package canary marks the keys and prompts of tests, so that one search tells whether any of them got into
// something that people read: a log, a metric, a status, an Event, an error.
//
// Invariants: the marks are plain letters and digits, which no encoder escapes and no masking of ours knows; a key
// has its mark at both ends, since a part of a key is a leak too.
//
// A Watch is that search for all tests of a package: its TestMain hands the Watch's logs to what is tested, names what
// else is shown, and ends with Run. A whole run in which a log stayed empty fails too.
//
// It is for tests only: nothing that ships may import it.
package canary
