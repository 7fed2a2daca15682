// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package dataplane

import (
	"bufio"
	"bytes"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

var binary string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "headgate-dataplane")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary = filepath.Join(dir, "gateway")
	build := exec.Command("go", "build", "-o", binary, "github.com/headgate-dev/headgate/cmd/gateway")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building the gateway: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// gateway is a running gateway in front of a simulated provider.
type gateway struct {
	t        *testing.T
	provider *fakeprovider.Server
	url      string
	admin    string
	policy   string
	server   *httptest.Server
	cmd      *exec.Cmd
	log      *buffer
	started  time.Duration
}

// buffer is a bytes.Buffer for two goroutines.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// policyYAML is a policy of both providers at the simulated one; more goes below each provider.
func policyYAML(url, more string) string {
	return fmt.Sprintf(`apiVersion: headgate.dev/v1alpha1
kind: RateLimitPolicy
metadata: {name: support, namespace: team-support}
spec:
  providers:
  - name: openai
    baseURL: %[1]s
    limits:
    - {name: tokens, budget: Tokens, amount: 400k, per: Minute}
%[2]s
  - name: anthropic
    baseURL: %[1]s
    credentialKey: anthropic
    limits:
    - {name: input-tokens, budget: InputTokens, amount: 400k, per: Minute}
%[2]s
`, url, more)
}

// start runs the gateway with the keys and the policy of every test, and stops it at the test's end.
func start(t *testing.T, opts fakeprovider.Options, more string) *gateway {
	t.Helper()
	return startWith(t, opts, func(url string) string { return policyYAML(url, more) })
}

// startWith does it with a policy of the test's own.
func startWith(t *testing.T, opts fakeprovider.Options, policy func(url string) string) *gateway {
	t.Helper()
	g := &gateway{t: t, provider: fakeprovider.New(opts), log: &buffer{}}
	server := httptest.NewUnstartedServer(g.provider)
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	g.server = server
	dir := t.TempDir()
	g.policy = filepath.Join(dir, "policy.yaml")
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	files := map[string]string{
		"policy.yaml": policy(server.URL), "ca.pem": string(ca),
		"keys/anthropic": "sk-ant-of-the-gateway", "keys/anthropic.hosts": "127.0.0.1",
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	g.run("--policy", g.policy, "--namespace", "team-support", "--ca-file", filepath.Join(dir, "ca.pem"),
		"--credentials", filepath.Join(dir, "keys"), "--state", dir, "--log-level", "info")
	return g
}

// run starts the binary on free ports and waits until it serves.
func (g *gateway) run(args ...string) {
	g.t.Helper()
	began := time.Now()
	g.cmd = exec.Command(binary, append(args, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")...)
	stderr, err := g.cmd.StderrPipe()
	if err != nil {
		g.t.Fatal(err)
	}
	if err := g.cmd.Start(); err != nil {
		g.t.Fatal(err)
	}
	serving := make(chan struct{})
	ended := make(chan struct{})
	go g.follow(bufio.NewScanner(stderr), serving, ended)
	g.t.Cleanup(func() { g.stop(ended) })
	select {
	case <-serving:
		g.started = time.Since(began)
	case <-ended:
		g.t.Fatalf("the gateway ended: %s", g.log)
	case <-time.After(20 * time.Second):
		g.t.Fatalf("the gateway does not serve: %s", g.log)
	}
}

// follow keeps the log and finds the addresses in it.
func (g *gateway) follow(lines *bufio.Scanner, serving, ended chan<- struct{}) {
	defer close(ended)
	found := false
	for lines.Scan() {
		_, _ = g.log.Write(append(lines.Bytes(), '\n'))
		var line struct{ Msg, Data, Admin string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "serving" && !found {
			found = true
			g.url, g.admin = "http://"+line.Data, "http://"+line.Admin
			close(serving)
		}
	}
}

// stop ends the gateway as a kubelet does, and checks that it ends well.
func (g *gateway) stop(ended <-chan struct{}) {
	_ = g.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-ended:
	case <-time.After(60 * time.Second):
		g.t.Error("the gateway did not end")
		_ = g.cmd.Process.Kill()
		<-ended
	}
	if err := g.cmd.Wait(); err != nil {
		g.t.Errorf("the gateway ended with %v", err)
	}
	if g.t.Failed() {
		g.t.Logf("log of the gateway:\n%s", g.log)
	}
}

func (g *gateway) get(url string) (int, string) {
	g.t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		g.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var b bytes.Buffer
	_, _ = b.ReadFrom(resp.Body)
	return resp.StatusCode, b.String()
}
