// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package shelves plays random histories of drawers that lease slots of one store: messages that are lost, late, doubled
// or out of order, drawers that crash, are followed by another incarnation, or are cut off, clocks of drawers that drift.
//
// Invariants: it counts calls by itself and believes no drawer and no store; time is simulated, and a history is a function
// of its seed alone.
//
// It is for tests only, and drives any store: the model of the drawers' own tests, and the script in a real server.
package shelves
