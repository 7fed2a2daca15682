// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package dataplane

import (
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

// Options are what a test may choose.
type Options struct {
	Provider fakeprovider.Options
	// Policy makes the policy's YAML for the provider's URL.
	Policy func(url string) string
	// Keys are the gateway's own API keys by their credentialKey. Each is good for the provider only.
	Keys map[string]string
	// LogLevel is info if empty.
	LogLevel string
}

// Namespace is where the policies are from.
const Namespace = "team-support"

// Start runs a simulated provider, with TLS and HTTP/2, and the gateway with a policy of the test's own.
func Start(t *testing.T, binary string, o Options) *Gateway {
	t.Helper()
	g := &Gateway{T: t, Provider: fakeprovider.New(o.Provider), Log: &Log{}}
	g.Server = httptest.NewUnstartedServer(g.Provider)
	g.Server.EnableHTTP2 = true
	g.Server.StartTLS()
	t.Cleanup(g.Server.Close)
	dir := t.TempDir()
	g.Policy = filepath.Join(dir, "policy.yaml")
	write(t, g.Policy, o.Policy(g.Server.URL))
	ca := filepath.Join(dir, "ca.pem")
	write(t, ca, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: g.Server.Certificate().Raw})))
	keys := filepath.Join(dir, "keys")
	write(t, filepath.Join(keys, ".keep"), "")
	for name, key := range o.Keys {
		write(t, filepath.Join(keys, name), key)
		write(t, filepath.Join(keys, name+".hosts"), "127.0.0.1")
	}
	level := o.LogLevel
	if level == "" {
		level = "info"
	}
	g.run(binary, "--policy", g.Policy, "--namespace", Namespace, "--ca-file", ca,
		"--credentials", keys, "--state", dir, "--log-level", level)
	return g
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
