// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package coding undoes the content codings of bodies that are held: of requests, whose model and size stand in them, and of
// answers, whose usage and errors do.
//
// Invariants: gzip, deflate (with zlib's frame or bare), br and zstd are read, and two that were applied one after the other,
// of which one may have a window of megabytes; no window is larger than 8 MiB, and two bodies at a time are read that have
// one, of which one is quick. Work is bounded by what codings take in and by what they yield, with every coding of a body; it
// ends when nobody waits for it. Nothing is changed of what passes.
//
// It imports the standard library, brotli and zstd.
package coding
