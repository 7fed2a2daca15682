// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package dataplane

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/canary"
	"github.com/headgate-dev/headgate/internal/testing/dataplane"
)

// tracedYAML has a limit that one call uses up, so that the next waits.
func tracedYAML(url string) string {
	return fmt.Sprintf(`apiVersion: headgate.dev/v1alpha1
kind: RateLimitPolicy
metadata: {name: support, namespace: team-support}
spec:
  providers:
  - name: openai
    baseURL: %[1]s
    credentialKey: openai
  - name: anthropic
    baseURL: %[1]s
    limits: [{name: in-flight, budget: InFlight, amount: 1}]
`, url)
}

// stuck answers as its path asks: nothing at all, or the beginning of an answer that quotes the prompt.
type stuck struct {
	mu      sync.Mutex
	arrived int
	release chan struct{}
}

func (s *stuck) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if strings.Contains(string(body), `"stream":true`) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", canary.Prompt("you said hello"))
		_ = http.NewResponseController(w).Flush()
	}
	s.mu.Lock()
	s.arrived++
	s.mu.Unlock()
	<-s.release
}

func (s *stuck) calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.arrived
}

// TestTracesOfACrashShowNoKeyAndNoPrompt: calls are on their way in, wait for a budget, are with the provider and stream their
// answer, with keys of the app's and of the gateway's, when the process dies. What it writes of all of its goroutines holds
// addresses, and none of that.
func TestTracesOfACrashShowNoKeyAndNoPrompt(t *testing.T) {
	t.Parallel()
	provider := &stuck{release: make(chan struct{})}
	g := &gateway{t: t, Gateway: dataplane.Start(t, binary, dataplane.Options{
		Handler: provider, Policy: tracedYAML, Keys: map[string]string{"openai": canary.Key("of-the-gateway")},
	})}
	defer close(provider.release)
	const body = `{"model":"m","max_tokens":4,%s"messages":[{"role":"user","content":%q}]}`
	prompt := canary.Prompt("hello")
	var all sync.WaitGroup
	defer all.Wait()
	call := func(path, more string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.URL+path, strings.NewReader(fmt.Sprintf(body, more, prompt)))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Api-Key", canary.Key("of-the-app"))
		req.Header.Set("Headgate-Deadline", "100s")
		all.Go(func() {
			if resp, err := http.DefaultClient.Do(req); err == nil { // they break off, sooner or later
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
		})
	}
	call("/openai/v1/chat/completions?key="+canary.Key("of-the-query"), "")
	call("/openai/v1/chat/completions", `"stream":true,`)
	call("/anthropic/v1/messages", "")
	g.Eventually("three calls at the provider", func() bool { return provider.calls() == 3 })
	call("/anthropic/v1/messages", "")
	conn, err := net.Dial("tcp", strings.TrimPrefix(g.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, err = fmt.Fprintf(conn, "POST /openai/v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: 9000\r\n\r\n{%q", canary.Key("of-the-app"), prompt)
	if err != nil {
		t.Fatal(err)
	}
	g.Eventually("a call that waits", func() bool {
		depth, _ := g.Metric(`headgate_queue_depth{lane="default",namespace="team-support",policy="support",provider="anthropic"}`)
		return depth == 1
	})
	time.Sleep(100 * time.Millisecond) // for the half of a body: it may come later, and then less is looked at
	text := g.Crash()
	for _, at := range []string{"SIGQUIT", "gateway/proxy.(*Gateway).ServeHTTP", "admission.", "proxy.(*relay)"} {
		if !strings.Contains(text, at) {
			t.Errorf("nothing of %s is in the traces:\n%s", at, text)
		}
	}
	if at := canary.Secrets(text); at != "" {
		t.Errorf("they show a key or a prompt: …%s…", at)
	}
}
