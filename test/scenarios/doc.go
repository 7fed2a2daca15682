// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package scenarios holds what Headgate promises under load, as policies and workloads with the figures that are
// expected of them: one file each, whose comment says which promise it shows. The tests play them on the simulator,
// which runs the production engine, and write docs/scenarios.md from what came of it, beside the baselines; they also
// hold the simulator to the real gateway binary.
//
// Invariants: a scenario is a function of its file, with one seed for all; each fails if what it shows is taken away;
// every promise of the engine's design that is a figure has one.
//
// It is for tests only.
package scenarios
