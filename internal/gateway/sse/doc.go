// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sse splits a server-sent event stream into events while its bytes pass on elsewhere.
//
// It takes every form the standard allows: lines ended by LF, CRLF or CR, a space after the colon or none,
// data of several lines, comments, a byte order mark, and a last event without its blank line.
//
// Invariants: the events found do not depend on how the stream is cut; memory is bounded by MaxEvent,
// whatever passes (data beyond it is handed on in pieces and not kept); an event in one piece is not copied.
//
// It imports the standard library only.
package sse
