// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package dataplane

import (
	"cmp"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/headgate-dev/headgate/internal/testing/canary"
	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

// Options are what a test may choose.
type Options struct {
	Provider fakeprovider.Options
	// Policy makes the policy's YAML for the provider's URL.
	Policy func(url string) string
	// Keys are the gateway's own API keys by their credentialKey. Each is good for the provider only, and marked.
	Keys map[string]string
	// LogLevel is debug if empty: the more is said, the more may be said that must not be.
	LogLevel string
	// Handler is the provider; a simulated one with the options if nil. HTTP1 has it speak no HTTP/2.
	Handler http.Handler
	HTTP1   bool
	// Args are further arguments of the command.
	Args []string
}

// streams are enough for all calls of a test to share a connection once there is one: thousands of handshakes at once take
// the race detector longer than a gateway waits for any.
const streams = 10_000

// Namespace is where the policies are from.
const Namespace = "team-support"

// Start runs a simulated provider, with TLS and HTTP/2, and the gateway with a policy of the test's own.
func Start(t *testing.T, binary string, o Options) *Gateway {
	t.Helper()
	g := &Gateway{T: t, Log: &Log{}}
	if o.Handler == nil {
		g.Provider = fakeprovider.New(o.Provider)
		o.Handler = g.Provider
	}
	g.Server = httptest.NewUnstartedServer(o.Handler)
	g.Server.EnableHTTP2 = !o.HTTP1
	g.Server.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: streams}
	g.Server.Config.ErrorLog = log.New(io.Discard, "", 0) // clients that leave in a handshake
	g.Server.StartTLS()
	t.Cleanup(g.Server.Close)
	dir := t.TempDir()
	g.Policy = filepath.Join(dir, "policy.yaml")
	write(t, g.Policy, o.Policy(g.Server.URL))
	ca := filepath.Join(dir, "ca.pem")
	write(t, ca, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: g.Server.Certificate().Raw})))
	keys := filepath.Join(dir, "keys")
	writeKeys(t, keys, o.Keys)
	state := filepath.Join(dir, "state")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	g.run(binary, append([]string{
		"--policy", g.Policy, "--namespace", Namespace, "--ca-file", ca,
		"--credentials", keys, "--state", state, "--log-level", cmp.Or(o.LogLevel, "debug"),
	}, o.Args...)...)
	return g
}

// writeKeys makes the folder of keys, as a mounted Secret would be.
func writeKeys(t *testing.T, dir string, keys map[string]string) {
	t.Helper()
	write(t, filepath.Join(dir, ".keep"), "")
	for name, key := range keys {
		if canary.Keys(key) == "" {
			t.Fatalf("the key %s of a test has no mark by which it would be found", name)
		}
		write(t, filepath.Join(dir, name), key)
		write(t, filepath.Join(dir, name+".hosts"), "127.0.0.1")
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
