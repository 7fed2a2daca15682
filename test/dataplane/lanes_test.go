// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package dataplane

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/testing/dataplane"
	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

// sortedYAML has a lane for each kind of rule; the batch lane is sent with a key of its own.
func sortedYAML(url string) string {
	return fmt.Sprintf(`apiVersion: headgate.dev/v1alpha1
kind: RateLimitPolicy
metadata: {name: support, namespace: team-support}
spec:
  providers:
  - name: openai
    baseURL: %s
    credentialKey: app
    limits:
    - {name: tokens, budget: Tokens, amount: 4M, per: Minute}
    lanes:
    - name: batch
      match: {header: {name: X-Class, value: batch}}
      credentialKey: batch
      reservedPercent: 20
    - {name: vectors, match: {paths: ["/v1/embeddings"]}, reservedPercent: 10}
    - {name: best, match: {models: ["gpt-5*"]}, reservedPercent: 30, priority: 100}
    - {name: bulk, match: {minInputTokens: 5k}, reservedPercent: 20, priority: -100}
`, url)
}

func TestLanesAreChosenByHeaderPathModelAndSizeAndSentWithTheirKey(t *testing.T) {
	t.Parallel()
	g := &gateway{t: t, Gateway: dataplane.Start(t, binary, dataplane.Options{
		Policy: sortedYAML, Keys: map[string]string{"app": "sk-c4n4ryKey-of-the-route-c4n4ryKey", "batch": "sk-c4n4ryKey-of-the-batch-lane-c4n4ryKey"},
	})}
	if a := g.post("/openai/v1/embeddings", `{"model":"text-embedding-3-small","input":"a few c4n4ryPrompt words"}`); a.status != http.StatusOK {
		t.Errorf("embeddings: answer %d %s", a.status, a.body)
	}
	words := strings.Repeat("some words ", 5000)
	for _, tc := range []struct {
		body    string
		headers []string
		key     string
	}{
		{`{"model":"gpt-4.1","max_tokens":4,"messages":[{"role":"user","content":"hi"}]}`, nil, "sk-c4n4ryKey-of-the-route-c4n4ryKey"},
		{`{"model":"gpt-4.1","max_tokens":4,"messages":[{"role":"user","content":"` + words + `"}]}`, nil, "sk-c4n4ryKey-of-the-route-c4n4ryKey"},
		{`{"model":"gpt-5.1","max_tokens":4,"messages":[{"role":"user","content":"` + words + `"}]}`, nil, "sk-c4n4ryKey-of-the-route-c4n4ryKey"},
		{`{"model":"gpt-5.1","max_tokens":4,"messages":[{"role":"user","content":"hi"}]}`, []string{"X-Class", "batch"}, "sk-c4n4ryKey-of-the-batch-lane-c4n4ryKey"},
		{`{"model":"gpt-4.1","max_tokens":4,"messages":[{"role":"user","content":"hi"}]}`, []string{"Headgate-Lane", "best", "Headgate-Priority", "1000"}, "sk-c4n4ryKey-of-the-route-c4n4ryKey"},
	} {
		if a := g.post("/openai/v1/chat/completions", tc.body, tc.headers...); a.status != http.StatusOK {
			t.Errorf("answer %d %s", a.status, a.body)
		}
		seen := g.Provider.Arrivals()
		if last := seen[len(seen)-1]; last.KeyHash != fakeprovider.KeyHash(tc.key) {
			t.Errorf("%v: another key than %s was sent", tc.headers, tc.key)
		}
	}
	for lane, n := range map[string]int{"vectors": 1, "batch": 1, "best": 1, "bulk": 1, "default": 2} {
		g.checkMetrics(fmt.Sprintf(`headgate_calls_total{lane=%q,namespace="team-support",outcome="success",policy="support",provider="openai",reason=""} %d`, lane, n),
			fmt.Sprintf(`headgate_lane_paused{lane=%q,namespace="team-support",policy="support",provider="openai"} 0`, lane))
	}
	if text := g.Log.String(); strings.Contains(text, "sk-") {
		t.Error("the log holds a key")
	}
}

func TestLaneWhoseKeyIsMissingIsRefusedAloneAndClearly(t *testing.T) {
	t.Parallel()
	g := &gateway{t: t, Gateway: dataplane.Start(t, binary, dataplane.Options{
		Policy: sortedYAML, Keys: map[string]string{"app": "sk-c4n4ryKey-of-the-route-c4n4ryKey"},
	})}
	const body = `{"model":"gpt-4.1","max_tokens":4,"messages":[{"role":"user","content":"hi"}]}`
	a := g.post("/openai/v1/chat/completions", body, "X-Class", "batch")
	if a.status != http.StatusServiceUnavailable || a.header.Get("X-Headgate-Reason") != "Credential" || !strings.Contains(a.body, `credential \"batch\"`) || len(g.Provider.Arrivals()) != 0 {
		t.Errorf("answer %d %s, %d sends", a.status, a.body, len(g.Provider.Arrivals()))
	}
	if a := g.post("/openai/v1/chat/completions", body); a.status != http.StatusOK {
		t.Errorf("a call of another lane: answer %d %s", a.status, a.body)
	}
}

func TestDeadlinesThatAreNoneAreCountedAndNotHeeded(t *testing.T) {
	t.Parallel()
	g := startWith(t, fakeprovider.Options{}, sortedYAML)
	for _, deadline := range []string{"soon", "5", "-1s", "5s", "1e3s"} {
		g.post("/openai/v1/chat/completions", `{"model":"m","messages":[]}`, "Headgate-Deadline", deadline)
	}
	g.checkMetrics(`headgate_invalid_deadlines_total{namespace="team-support",policy="support",provider="openai"} 3`)
}
