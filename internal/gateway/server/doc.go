// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package server runs the gateway's listeners: calls on the loopback addresses, metrics and health on the
// pod's; and drains them at the end.
//
// Invariants: no timeout cuts a healthy stream or a body on its way; slow headers are cut; a panic ends its own call
// and is told without what it quotes; on the end the
// data listener goes on accepting until the app has been quiet for a moment or the bound is reached, since
// the app's last calls come after the signal; then it waits for answers that are the gateway's own, for 3 s at most.
//
// It imports the standard library and internal/connections only.
package server
