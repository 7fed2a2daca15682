// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package dataplane

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/canary"
	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

// canonicalYAML is a policy with the amounts of the simulated provider's account: 4,000 requests and 400,000
// input tokens a minute. These tests run in real time: that nothing comes early is exact, what may be late is
// bounded with tenfold slack.
func canonicalYAML(url string) string {
	return fmt.Sprintf(`apiVersion: headgate.dev/v1alpha1
kind: RateLimitPolicy
metadata: {name: support, namespace: team-support}
spec:
  providers:
  - name: anthropic
    baseURL: %s
    limits:
    - {name: requests, budget: Requests, amount: 4k, per: Minute}
    - {name: input-tokens, budget: InputTokens, amount: 400k, per: Minute}
`, url)
}

// raw is the answer to a call without an SDK.
type raw struct {
	status      int
	header      http.Header
	body        string
	began, took time.Time
}

const sonnet = "claude-sonnet-4-5"

// tokensOf is an Anthropic call that the gateway counts as so many tokens.
func tokensOf(model string, tokens int) string {
	const word = "ab " // a token by the gateway's estimate; the provider is told by a header
	return fmt.Sprintf(`{"model":%q,"max_tokens":4,"messages":[{"role":"user","content":%q}]}`, model, strings.Repeat(word, tokens))
}

// message makes an Anthropic call that both the gateway and the provider count as so many tokens.
func (g *gateway) message(client *http.Client, model string, tokens int, headers ...string) raw {
	g.t.Helper()
	headers = append([]string{"X-Fake-Input-Tokens", strconv.Itoa(tokens)}, headers...)
	return g.postBy(client, "/anthropic/v1/messages", tokensOf(model, tokens), headers...)
}

// post makes a call with the app's key.
func (g *gateway) post(path, body string, headers ...string) raw {
	g.t.Helper()
	return g.postBy(http.DefaultClient, path, body, headers...)
}

func (g *gateway) postBy(client *http.Client, path, body string, headers ...string) raw {
	g.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, g.URL+path, strings.NewReader(body))
	if err != nil {
		g.t.Error(err)
		return raw{}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Api-Key", "sk-c4n4ryKey-of-the-app-c4n4ryKey")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	out := raw{began: time.Now()}
	resp, err := client.Do(req)
	if err != nil {
		g.t.Error(err)
		return out
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		g.t.Error(err)
	}
	out.status, out.header, out.body, out.took = resp.StatusCode, resp.Header, string(text), time.Now()
	if at := canary.Any(fmt.Sprint(out.header) + out.body); at != "" {
		g.t.Errorf("an answer shows a key or a prompt: …%s…", at)
	}
	return out
}

func TestCanonicalLargeCallToldNineSecondsGoesOnceMoreAndNotBefore(t *testing.T) {
	t.Parallel()
	g := startWith(t, fakeprovider.Options{}, canonicalYAML)
	g.Provider.SetLevel(fakeprovider.InputTokens, 0)
	if a := g.message(http.DefaultClient, sonnet, 60_000); a.status != http.StatusOK {
		t.Fatalf("answer %d: %s", a.status, a.body)
	}
	seen := g.Provider.Arrivals()
	if len(seen) != 2 || seen[0].Verdict != "Throttled" || seen[0].RetryAfter != "9" || seen[1].Verdict != "Admitted" {
		t.Fatalf("the provider saw %+v", seen)
	}
	// 9.0 s and jitter of at most a quarter; ten times the wait on a busy machine.
	gap := time.Duration(seen[1].TimeUnixNano - seen[0].AnsweredUnixNano)
	if gap < 9*time.Second || gap > 90*time.Second {
		t.Errorf("it came again %s after it was told to wait 9 s", gap)
	}
	g.checkMetrics(`headgate_reserved{limit="input-tokens",namespace="team-support",policy="support",provider="anthropic"} 0`)
}

func TestCanonicalLargeCallOnAnEmptyBucketGoesOnceAtNineSecondsOrIsDeclinedAtOnce(t *testing.T) {
	t.Parallel()
	// All models share the account, so that a call of another model can empty it: a short one that turns out to
	// have been large, and from which nothing is learned for the model that matters.
	groups := []fakeprovider.ModelGroup{{Pattern: "*", Name: "all"}}
	g := startWith(t, fakeprovider.Options{ModelGroups: groups}, canonicalYAML)
	first := g.message(http.DefaultClient, "claude-opus-4-5", 1, "X-Fake-Input-Tokens", "400000")
	if first.status != http.StatusOK {
		t.Fatalf("answer %d: %s", first.status, first.body)
	}
	// 54 seconds do not fit into 20: the answer is there in 50 ms, and on any machine long before those are over.
	declined := g.message(http.DefaultClient, sonnet, 360_000, "Headgate-Deadline", "20s")
	if took := declined.took.Sub(declined.began); declined.status != http.StatusTooManyRequests || took > 10*time.Second {
		t.Errorf("answer %d after %s", declined.status, took)
	}
	const want = "headgate: team-support/support: anthropic/input-tokens (400k/min) is used up; fits in "
	if !strings.Contains(declined.body, want) || declined.header.Get("X-Should-Retry") != "false" {
		t.Errorf("answer %v: %s", declined.header, declined.body)
	}
	if n := len(g.Provider.Arrivals()); n != 1 {
		t.Errorf("the provider saw %d sends: what was declined was sent", n)
	}
	waited := g.message(http.DefaultClient, sonnet, 60_000)
	seen := g.Provider.Arrivals()
	if waited.status != http.StatusOK || len(seen) != 2 {
		t.Fatalf("answer %d: %s; the provider saw %+v", waited.status, waited.body, seen)
	}
	if since := time.Duration(seen[1].TimeUnixNano - seen[0].TimeUnixNano); since < 9*time.Second || since > 90*time.Second {
		t.Errorf("it came %s after the bucket was emptied", since)
	}
	if seen[1].Verdict != "Admitted" {
		t.Errorf("the provider had not refilled when it came: %+v", seen[1])
	}
}

func TestCanonicalFourHundredCallersToldNineSecondsMakeNoSecondWave(t *testing.T) {
	t.Parallel()
	const callers = 400
	// From when all are there the account is what it says: 600 requests short, which is nine seconds of its refill. Whoever
	// comes sooner, or faster than it refills, is refused.
	all := gather(callers, func(p *fakeprovider.Server) { p.SetLevel(fakeprovider.Requests, -15) })
	g := all.start(t, canonicalYAML)
	if a := g.message(http.DefaultClient, sonnet, 10); a.status != http.StatusOK { // so that the account exists
		t.Fatalf("answer %d: %s", a.status, a.body)
	}
	// All are under way before the first is refused.
	g.Inject(fakeprovider.Fault{Kind: fakeprovider.FaultThrottle, RetryAfter: "9", Count: callers})
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: callers}}
	defer client.CloseIdleConnections()
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			if a := g.message(client, sonnet, 10, "X-Request-Id", strconv.Itoa(i), gathers, "1", "Headgate-Deadline", "5m"); a.status != http.StatusOK {
				t.Errorf("answer %d: %s", a.status, a.body)
			}
		})
	}
	wg.Wait()
	seen := g.Provider.Arrivals()[1:]
	if len(seen) != 2*callers {
		t.Errorf("the provider saw %d sends, not one and one more of each of %d callers", len(seen), callers)
	}
	told := map[string]int64{}
	for _, a := range seen {
		id := a.Headers["x-request-id"]
		before, again := told[id]
		switch {
		case !again:
			told[id] = a.AnsweredUnixNano
		case a.Verdict != "Admitted":
			t.Errorf("a second wave: caller %s was refused again: %+v", id, a)
		case a.TimeUnixNano-before < int64(9*time.Second):
			t.Errorf("caller %s came again after %s", id, time.Duration(a.TimeUnixNano-before))
		}
	}
}
