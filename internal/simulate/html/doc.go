// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package html writes the result of a simulation as one page that a person would rather look at than at its JSON:
// a verdict, the figures beside those of the baselines, and plots of levels, queues, refusals and waits.
//
// Invariants: the page is one file without scripts that asks the network for nothing, and a policy of its own
// forbids it to; it is at most MaxBytes long, whatever the result holds, and says what it left out; names are
// escaped by html/template and clipped; every plot has a title, a description and a table; the same result gives the
// same bytes.
//
// It reads package result alone: it must not import the simulator, so that a result may come from anywhere.
package html
