// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fuzzing runs the project's fuzz targets: it builds each package's instrumented test, gives every target its
// time, several at once, and judges what the engine of the go command says of it. hack/fuzz is its command.
//
// Invariants: a finding fails the run, and is shown with its input and the trace it has alone; a target that executed
// nothing beyond its corpus fails too, after it was given more time; the end of the engine's own time is no finding; each
// target's words are in a file of their own, and shown together.
//
// It must not import any other package of the project: it knows its targets by their sources.
package fuzzing
