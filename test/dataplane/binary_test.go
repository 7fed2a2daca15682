// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package dataplane

import (
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/dataplane"
	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

func TestPolicyFileIsReloadedAndABadEditKeepsTheLastGood(t *testing.T) {
	g := start(t, fakeprovider.Options{}, "")
	if status, body := g.Get(g.URL + "/other/v1/models"); status != http.StatusNotFound || !strings.Contains(body, "/anthropic, ") || !strings.Contains(body, "/openai, ") && !strings.Contains(body, "/openai.") {
		t.Errorf("unknown route: %d %s", status, body)
	}
	write := func(text string) {
		if err := os.WriteFile(g.Policy, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	other := strings.Replace(policyYAML(g.Server.URL, ""), "- name: openai", "- name: other\n    dialect: OpenAI", 1)
	write(other)
	// Without a key the provider itself answers 401: the route leads there.
	g.Eventually("the new route", func() bool { status, _ := g.Get(g.URL + "/other/v1/models"); return status == http.StatusUnauthorized })
	write(strings.Replace(other, "400k", "-5", 1))
	g.Eventually("the error", func() bool { return strings.Contains(g.Log.String(), "plan refused") })
	if status, _ := g.Get(g.URL + "/other/v1/models"); status != http.StatusUnauthorized {
		t.Errorf("after a bad edit the last good policy is gone: %d", status)
	}
}

func TestBinaryStartsFastProbesAndServesHealth(t *testing.T) {
	g := start(t, fakeprovider.Options{}, "")
	// The bar is 100 ms on a machine at rest; what the start works is the same on a busy one.
	if worked := g.ProcessorTime(); worked > time.Second {
		t.Errorf("the start took %s of a processor", worked)
	}
	t.Logf("started in %s", g.Started)
	for _, path := range []string{"/healthz", "/readyz"} {
		if status, body := g.Get(g.Admin + path); status != http.StatusOK {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	g.probes()
	if err := exec.Command(binary, "probe", "--listen", "127.0.0.1:1").Run(); err == nil {
		t.Error("the probe succeeds on a port nobody listens on")
	}
	if out, err := exec.Command(binary, "--version").CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "gateway ") {
		t.Errorf("--version: %v %s", err, out)
	}
}

func TestDrainOutlivesTheAppsLastCalls(t *testing.T) {
	// Calls are answered once both are at the provider: the first lasts until the second, which comes after the signal.
	both := gather(2, func(*fakeprovider.Server) {})
	g := both.start(t, func(url string) string { return policyYAML(url, "") }, "--drain", dataplane.Patience.String())
	ask := func() int {
		return g.post("/openai/v1/chat/completions", `{"model":"gpt-4.1","messages":[]}`, gathers, "1", "Authorization", "Bearer sk-c4n4ryKey-of-the-app-c4n4ryKey").status
	}
	done := make(chan int, 1)
	go func() { done <- ask() }()
	g.Eventually("the first call", func() bool { return both.here.Load() == 1 })
	if err := g.Cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	g.Eventually("the drain", func() bool { return strings.Contains(g.Log.String(), `"msg":"draining"`) })
	if status := ask(); status != http.StatusOK {
		t.Errorf("a call after the signal got %d", status)
	}
	if status := <-done; status != http.StatusOK {
		t.Errorf("a call under way at the signal got %d", status)
	}
}
