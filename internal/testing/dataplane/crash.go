// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package dataplane

import (
	"syscall"
	"time"
)

// Crash ends the gateway with the traces of all its goroutines, as SIGQUIT and a fault of the runtime do, and returns all that it
// wrote. It is searched as ever at the test's end.
func (g *Gateway) Crash() string {
	g.T.Helper()
	g.crashed = true
	if err := g.Cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		g.T.Fatal(err)
	}
	select {
	case <-g.ended:
	case <-time.After(Patience):
		g.T.Fatal("the gateway did not end")
	}
	return g.Log.String()
}
