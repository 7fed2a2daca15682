// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package deferral tests deferred calls with the real gateway binary and the simulated provider, with the file and with
// a real redis-server that is killed, paused and emptied: kills, restarts, tickets, streams, metrics, and the command.
//
// It is for tests only, and knows the gateway as a binary.
package deferral
