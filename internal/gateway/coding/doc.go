// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package coding undoes the content codings of bodies that are held: of requests, whose model and size stand in them, and of
// answers, whose usage and errors do.
//
// Invariants: gzip, deflate (with zlib's frame or bare), br and zstd are read, and up to three that were applied one after the
// other; no window is larger than 8 MiB, and one body at a time is read that has one; nothing is changed of what passes.
//
// It imports the standard library, brotli and zstd.
package coding
