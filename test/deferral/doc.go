// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package deferral tests deferred calls with the real gateway binary, the simulated provider, and a real Redis: kills,
// restarts, tickets, and the command.
//
// It is for tests only, and knows the gateway as a binary.
package deferral
