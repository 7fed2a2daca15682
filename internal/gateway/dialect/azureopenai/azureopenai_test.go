// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package azureopenai

import (
	"net/http"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
)

// TestCredentials: a resource's key goes into Azure's header, a token of Entra ID into the usual one, and nothing of
// the app's stays, in headers or query.
func TestCredentials(t *testing.T) {
	for key, header := range map[string]string{
		"0123456789abcdef":                     "Api-Key",
		"eyJhbGciOi.eyJhdWQiOi.c2lnbmF0dXJl":   "Authorization",
		"eyJ-that-only-begins-as-a-token-does": "Api-Key",
	} {
		h := http.Header{"Api-Key": {"app"}, "Authorization": {"Bearer app"}, "Ocp-Apim-Subscription-Key": {"app"}}
		query := New().SetCredential(h, "api-version=2024-10-21&api-key=app&subscription-key=app", " "+key+"\n")
		if query != "api-version=2024-10-21" || len(h) != 1 || h.Get(header) == "" {
			t.Errorf("%q: %v, query %q", key, h, query)
		}
	}
}

// TestFingerprintsTellAccountsApart, wherever the key is.
func TestFingerprintsTellAccountsApart(t *testing.T) {
	seen := map[uint64]string{0: "no key"}
	for name, c := range map[string]struct {
		h     http.Header
		query string
	}{
		"one key":           {http.Header{"Api-Key": {"one"}}, ""},
		"another":           {http.Header{"Api-Key": {"two"}}, ""},
		"a token":           {http.Header{"Authorization": {"Bearer one"}}, ""},
		"one in the query":  {nil, "api-version=1&subscription-key=one"},
		"other in the same": {nil, "subscription-key=two&api-version=1"},
	} {
		fingerprint := New().Fingerprint(c.h, c.query)
		if other, ok := seen[fingerprint]; ok {
			t.Errorf("%s looks like %s", name, other)
		}
		seen[fingerprint] = name
	}
	if New().Fingerprint(http.Header{}, "api-version=1") != 0 {
		t.Error("no key has a fingerprint")
	}
}

// TestA17RefusalsHaveAzuresShape: its code is the status, as a string.
func TestA17RefusalsHaveAzuresShape(t *testing.T) {
	for status, want := range map[int]string{
		429: `{"error":{"code":"429","message":"headgate: <full>"}}`,
		503: `{"error":{"code":"503","message":"headgate: <full>"}}`,
	} {
		got, h, body := New().Refusal(dialect.Refusal{Status: status, Message: "headgate: <full>", RetryAfter: 1500 * time.Millisecond})
		if got != status || string(body) != want || h.Get("Retry-After") != "2" || h.Get("X-Should-Retry") != "false" {
			t.Errorf("%d %v %s", got, h, body)
		}
	}
	op := dialect.Operation{Name: "chat", Format: dialect.FormatChat}
	_, _, body := New().Refusal(dialect.Refusal{Status: 503, Message: "headgate: it broke"})
	event := New().StreamError(op, dialect.StreamFailure{Status: 503, Document: body})
	m := New().NewMeter(op, http.Header{}, dialect.MeterOptions{Stream: true})
	m.Write(event)
	if f, failed := m.StreamFailure(); !failed || f.Code != "503" || f.Class != dialect.ClassOverload {
		t.Errorf("%q is read as %+v", event, f)
	}
}

// TestBudgets: token rate limit and call rate limit are told apart.
func TestBudgets(t *testing.T) {
	for words, want := range map[string]string{"token rate limit": plan.Tokens, "call rate limit": plan.Requests, "rate limit": ""} {
		var r dialect.Reading
		body := `{"error":{"code":"429","message":"Requests to the X Operation have exceeded ` + words + ` of your tier."}}`
		if f := New().ReadFailure(429, http.Header{}, []byte(body), &r); f.Budget != want {
			t.Errorf("%s: %q, want %q", words, f.Budget, want)
		}
	}
}

// TestRequestsOfAnUnstatedWindowPaceNothing: a limit of ten seconds must not be taken for one of a minute.
func TestRequestsOfAnUnstatedWindowPaceNothing(t *testing.T) {
	h := http.Header{
		"X-Ratelimit-Limit-Requests": {"20"}, "X-Ratelimit-Remaining-Requests": {"19"},
		"X-Ratelimit-Limit-Tokens": {"20000"}, "X-Ratelimit-Remaining-Tokens": {"19000"},
	}
	for _, stated := range []string{"", "10"} {
		want := "interval"
		if stated != "" {
			want = ""
			h.Set("X-Ratelimit-Renewalperiod-Requests", stated)
		}
		r := New().ReadHeaders(http.StatusOK, h, time.Time{})
		if len(r.Budgets) != 2 || r.Budgets[0].Bucket != want || r.Budgets[1].Bucket != "" {
			t.Errorf("%q: %+v", stated, r.Budgets)
		}
	}
}

// TestTimeSpans: days.hours:minutes:seconds, and nothing else.
func TestTimeSpans(t *testing.T) {
	const day = 24 * time.Hour
	cases := map[string]time.Duration{
		"00:09:43":         9*time.Minute + 43*time.Second,
		"07:01:20.":        7*time.Hour + time.Minute + 20*time.Second,
		"2.02:24:18.":      2*day + 2*time.Hour + 24*time.Minute + 18*time.Second,
		"20.09:58:55. Bye": 20*day + 9*time.Hour + 58*time.Minute + 55*time.Second,
		"00:00:00":         0,
	}
	for text, want := range cases {
		if got, ok := replenished("Out of call volume quota. Quota will be replenished in " + text); !ok || got != want {
			t.Errorf("%s: %v, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "2 days.", "00:09", "2.12 days", "-1:00:00", "a:b:c", "99999.00:00:00", "1..00:00:00", "00::00"} {
		if got, ok := replenished("replenished in " + text); ok {
			t.Errorf("%q is %v", text, got)
		}
	}
}

// FuzzTimeSpan: no wait is negative or absurd, and what is none is zero.
func FuzzTimeSpan(f *testing.F) {
	for _, text := range []string{"replenished in 2.02:24:18.", "replenished in 9999.9999:9999:9999", "replenished in ", "00:00:00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, ok := replenished(text); got < 0 || got > 30*365*24*time.Hour || !ok && got != 0 {
			t.Errorf("%q: %v, %v", text, got, ok)
		}
	})
}
