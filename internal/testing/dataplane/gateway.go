// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package dataplane

import (
	"bufio"
	"bytes"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

// Gateway is a running gateway, and the simulated provider behind it if Start made one.
type Gateway struct {
	T        *testing.T
	Provider *fakeprovider.Server
	Server   *httptest.Server
	// URL and Admin are the addresses of the two listeners.
	URL, Admin string
	// Policy is the path of the policy's file.
	Policy string
	// State is the folder of --state; "" if there is none.
	State string
	Cmd   *exec.Cmd
	Log   *Log
	// Started is how long the start took.
	Started time.Duration

	// ended is closed when the process has written its last; crashed says that it was to end badly.
	ended   chan struct{}
	crashed bool
}

// Patience is how long what must come may take: a machine may be many times too slow, and what is looked for is that it
// comes, not when.
const Patience = 2 * time.Minute

// maxLine is more than a line of a log may have.
const maxLine = 1 << 20

// Run starts the binary with args on free ports, and waits until it serves.
func Run(t *testing.T, binary string, args ...string) *Gateway {
	t.Helper()
	g := &Gateway{T: t, Log: &Log{}}
	g.run(binary, args...)
	return g
}

func (g *Gateway) run(binary string, args ...string) {
	g.T.Helper()
	began := time.Now()
	g.Cmd = exec.Command(binary, append(args, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")...)
	if i := slices.Index(args, "--state"); i >= 0 && i+1 < len(args) {
		g.State = args[i+1]
	}
	stderr, err := g.Cmd.StderrPipe()
	if err != nil {
		g.T.Fatal(err)
	}
	if err := g.Cmd.Start(); err != nil {
		g.T.Fatal(err)
	}
	serving := make(chan struct{})
	g.ended = make(chan struct{})
	lines := bufio.NewScanner(stderr)
	lines.Buffer(nil, maxLine)
	go g.follow(lines, serving, g.ended)
	g.T.Cleanup(g.stop)
	select {
	case <-serving:
		g.Started = time.Since(began)
	case <-g.ended:
		g.T.Fatalf("the gateway ended: %s", g.Log)
	case <-time.After(Patience):
		g.T.Fatalf("the gateway does not serve: %s", g.Log)
	}
}

// stop ends the gateway as a kubelet does, and checks that it ends well and that it showed no secret.
func (g *Gateway) stop() {
	g.keptSecrets(g.shown())
	defer func() { g.keptSecrets(g.written()) }()
	_ = g.Cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-g.ended:
	case <-time.After(Patience):
		g.T.Error("the gateway did not end")
		_ = g.Cmd.Process.Kill()
		<-g.ended
	}
	if err := g.Cmd.Wait(); err != nil && !g.crashed {
		g.T.Errorf("the gateway ended with %v", err)
	}
	if g.T.Failed() {
		g.T.Logf("log of the gateway:\n%s", g.Log)
	}
}

// Get returns the status and body of url.
func (g *Gateway) Get(url string) (int, string) {
	g.T.Helper()
	resp, err := http.Get(url)
	if err != nil {
		g.T.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var b bytes.Buffer
	_, _ = b.ReadFrom(resp.Body)
	return resp.StatusCode, b.String()
}

// Eventually fails unless ok comes true within Patience.
func (g *Gateway) Eventually(what string, ok func() bool) {
	g.T.Helper()
	for deadline := time.Now().Add(Patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if ok() {
			return
		}
	}
	g.T.Fatalf("%s did not come", what)
}

// Inject queues a fault at the provider.
func (g *Gateway) Inject(f fakeprovider.Fault) {
	g.T.Helper()
	if err := g.Provider.Inject(f); err != nil {
		g.T.Fatal(err)
	}
}
