// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package eventstream reads and writes the framing of application/vnd.amazon.eventstream: a prelude of two
// lengths and a checksum, headers, a payload, a checksum over all of it.
//
// Invariants: the messages found do not depend on how a stream is cut; memory is bounded by MaxMessage,
// whatever passes (of a larger message only the headers are kept); a message whose lengths or checksums do
// not hold ends the reading for good, since nothing behind it can be found; a message in one piece is not
// copied; nothing panics.
//
// It imports the standard library only.
package eventstream
