// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package dataplane

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/dataplane"
	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

// pair is a gateway whose route anthropic fails over to the route backup, at another provider with another key.
type pair struct {
	*gateway
	backup *fakeprovider.Server
	server *httptest.Server
}

// startPair starts it; more are fields of the backup.
func startPair(t *testing.T, more string) *pair {
	t.Helper()
	p := &pair{backup: fakeprovider.New(fakeprovider.Options{Keys: []string{"sk-c4n4ryKey-of-the-backup-c4n4ryKey"}})}
	// The certificate is that of every test server, so that the gateway trusts it.
	p.server = httptest.NewUnstartedServer(p.backup)
	p.server.EnableHTTP2 = true
	p.server.StartTLS()
	t.Cleanup(p.server.Close)
	p.gateway = &gateway{t: t, Gateway: dataplane.Start(t, binary, dataplane.Options{
		Keys: map[string]string{"backup": "sk-c4n4ryKey-of-the-backup-c4n4ryKey"},
		Policy: func(url string) string {
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
    throttle: {onCeilingExceeded: Failover, failoverTo: backup}
  - name: backup
    dialect: Anthropic
    baseURL: %s
    credentialKey: backup
    limits:
    - {name: backup-tokens, budget: InputTokens, amount: 400k, per: Minute}
%s`, url, p.server.URL, more)
		},
	})}
	// 860,000 tokens short for a call of 60,000: 129 s, and the ceiling is 30 s.
	p.Provider.SetLevel(fakeprovider.InputTokens, -200)
	return p
}

func TestFailoverServesTheCallAtTheBackup(t *testing.T) {
	t.Parallel()
	p := startPair(t, "")
	a := p.message(http.DefaultClient, sonnet, 60_000)
	if took := a.took.Sub(a.began); a.status != http.StatusOK || a.header.Get("X-Headgate-Failover") != "anthropic -> backup" || took > 20*time.Second {
		t.Fatalf("answer %d %v %s after %s", a.status, a.header, a.body, took)
	}
	first, second := p.Provider.Arrivals(), p.backup.Arrivals()
	if len(first) != 1 || first[0].Verdict != "Throttled" || len(second) != 1 || second[0].Verdict != "Admitted" {
		t.Fatalf("the providers saw %+v and %+v", first, second)
	}
	if after, _ := strconv.Atoi(first[0].RetryAfter); after < 60 {
		t.Errorf("the provider asked for %s s: that is no long wait", first[0].RetryAfter)
	}
	if first[0].KeyHash != fakeprovider.KeyHash("sk-c4n4ryKey-of-the-app-c4n4ryKey") || second[0].KeyHash != fakeprovider.KeyHash("sk-c4n4ryKey-of-the-backup-c4n4ryKey") || first[0].BodySHA256 != second[0].BodySHA256 {
		t.Errorf("another key or body was sent: %+v, %+v", first[0], second[0])
	}
	// The provider's word stands for all: what comes next goes to the backup at once, streams too.
	streamed := strings.Replace(tokensOf(sonnet, 10), `"max_tokens"`, `"stream":true,"max_tokens"`, 1)
	if s := p.post("/anthropic/v1/messages", streamed); s.status != http.StatusOK || !strings.Contains(s.body, "event: message_stop") || s.header.Get("X-Headgate-Failover") == "" {
		t.Errorf("a stream: answer %d %v %s", s.status, s.header, s.body)
	}
	if n, m := len(p.Provider.Arrivals()), len(p.backup.Arrivals()); n != 1 || m != 2 {
		t.Errorf("the providers saw %d and %d sends", n, m)
	}
	p.checkMetrics(
		`headgate_failovers_total{namespace="team-support",outcome="success",policy="support",provider="anthropic",to="backup"} 2`,
		`headgate_calls_total{lane="default",namespace="team-support",outcome="failed_over",policy="support",provider="anthropic",reason=""} 2`,
		`headgate_calls_total{lane="default",namespace="team-support",outcome="success",policy="support",provider="backup",reason=""} 2`,
		`headgate_limit_used_total{limit="input-tokens",namespace="team-support",policy="support",provider="anthropic"} 0`,
		`headgate_limit_used_total{limit="requests",namespace="team-support",policy="support",provider="anthropic"} 1`,
		`headgate_reserved{limit="input-tokens",namespace="team-support",policy="support",provider="anthropic"} 0`,
		`headgate_reserved{limit="backup-tokens",namespace="team-support",policy="support",provider="backup"} 0`,
	)
	if used := p.metric(`headgate_limit_used_total{limit="backup-tokens",namespace="team-support",policy="support",provider="backup"}`); used < 60_000 || used > 61_000 {
		t.Errorf("the backup's budget is charged %v", used)
	}
	if text := p.Log.String(); !strings.Contains(text, `"failover":"anthropic -> backup"`) || strings.Contains(text, "sk-") {
		t.Errorf("the log: %s", text)
	}
}

// TestFailoverThatFails: what the backup answers is the answer; where it gives none or refuses, the first's is.
func TestFailoverThatFails(t *testing.T) {
	for name, tc := range map[string]struct {
		more      string
		fault     *fakeprovider.Fault
		closed    bool
		status    int
		answered  bool
		outcome   string
		sends     int
		remaining bool
	}{
		"refuses":        {more: "    deadline: {default: 20s}\n", fault: nil, status: 429, outcome: "refused", remaining: true},
		"is unreachable": {closed: true, status: 429, outcome: "unreachable"},
		"breaks":         {fault: &fakeprovider.Fault{Kind: fakeprovider.FaultReset, Count: -1}, status: 429, outcome: "unreachable", sends: 1},
		"fails":          {fault: &fakeprovider.Fault{Kind: fakeprovider.FaultRespond, Status: 500, Count: -1}, status: 500, answered: true, outcome: "failed", sends: 1},
		"throttles too":  {fault: &fakeprovider.Fault{Kind: fakeprovider.FaultThrottle, RetryAfter: "500", Count: -1}, status: 429, answered: true, outcome: "failed", sends: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := startPair(t, tc.more)
			before := 0
			if tc.remaining {
				// The backup's whole minute is taken: 300,000 tokens would have to wait there, far longer than the caller does.
				if a := p.post("/backup/v1/messages", tokensOf(sonnet, 400_000), "X-Fake-Input-Tokens", "400000"); a.status != http.StatusOK {
					t.Fatalf("answer %d %s", a.status, a.body)
				}
				before = 1
			}
			if tc.fault != nil {
				if err := p.backup.Inject(*tc.fault); err != nil {
					t.Fatal(err)
				}
			}
			if tc.closed {
				p.server.Close()
			}
			a := p.message(http.DefaultClient, sonnet, 300_000, "Headgate-Deadline", "20s")
			if took := a.took.Sub(a.began); a.status != tc.status || took > dataplane.Patience {
				t.Errorf("answer %d %s after %s", a.status, a.body, took)
			}
			after, _ := strconv.Atoi(a.header.Get("Retry-After"))
			if !tc.answered && (a.header.Get("X-Headgate-Failover") != "" || a.header.Get("X-Headgate-Reason") != "CeilingExceeded" || after < 60) {
				t.Errorf("not the first provider's refusal: %v", a.header)
			}
			if tc.answered && a.header.Get("X-Headgate-Failover") != "anthropic -> backup" {
				t.Errorf("not marked: %v", a.header)
			}
			if n, m := len(p.Provider.Arrivals()), len(p.backup.Arrivals())-before; n != 1 || m != tc.sends {
				t.Errorf("the providers saw %d and %d sends", n, m)
			}
			p.checkMetrics(
				fmt.Sprintf(`headgate_failovers_total{namespace="team-support",outcome=%q,policy="support",provider="anthropic",to="backup"} 1`, tc.outcome),
				`headgate_reserved{limit="input-tokens",namespace="team-support",policy="support",provider="anthropic"} 0`,
				`headgate_reserved{limit="backup-tokens",namespace="team-support",policy="support",provider="backup"} 0`,
			)
		})
	}
}
