// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"net/http"
	"testing"
	"time"

	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// TestA9MembersThatGiveAWaitAreReadInEveryDialect: servers of an API, and proxies in front of it, state a wait in the body
// under names of their own, in a response and in an event alike. The longest counts; what is no wait is none.
func TestA9MembersThatGiveAWaitAreReadInEveryDialect(t *testing.T) {
	const second = time.Second
	google := map[string]bool{"Gemini": true, "VertexAI": true} // theirs is RetryInfo, see TestA9WaitsInTheBody
	for body, want := range map[string]time.Duration{
		`{"error":{"message":"slow","type":"rate_limit_error"},"retry_after":31}`:                           31 * second,
		`{"error":{"message":"slow","type":"rate_limit_error","retry_after":"31"}}`:                         31 * second,
		`{"error":{"message":"slow","retry_after":"1m2.5s"}}`:                                               62500 * time.Millisecond,
		`{"error":{"message":"slow","metadata":{"retry_after_seconds":31.5}}}`:                              31500 * time.Millisecond,
		`{"error":{"message":"slow"},"retryAfter":31}`:                                                      31 * second,
		`{"error":{"message":"slow","retry_after_ms":1500}}`:                                                1500 * time.Millisecond,
		`{"error":{"message":"slow","retryAfterMs":"1500","retryAfter":1}}`:                                 1500 * time.Millisecond,
		`{"error":{"message":"slow","retry_after":1e3}}`:                                                    -1,
		`{"error":{"message":"slow","retry_after":null}}`:                                                   -1,
		`{"error":{"message":"slow","retry_after":true,"retryAfterMs":{}}}`:                                 -1,
		`{"error":{"message":"slow","retry_after":"soon"}}`:                                                 -1,
		`{"error":{"message":"slow","retry_after":-5}}`:                                                     0,
		`{"error":{"message":"slow","retry_after":99999999999999999999}}`:                                   9_223_372_036 * second,
		`[{"error":"{\"error\":{\"message\":\"slow\",\"retry_after\":7}}"}]`:                                7 * second,
		`{"error":{"message":"Your daily allowance resets in 13 hours.","retry_after":6}}`:                  6 * second,
		`{"error":{"message":"Please try again in 9s.","type":"rate_limit_error","retry_after":3}}`:         9 * second,
		`{"error":{"message":"Please retry after 2 seconds.","type":"rate_limit_error"},"retry_after":4.5}`: 4500 * time.Millisecond,
	} {
		for _, f := range facts.All() {
			d := ByName(f.Name)
			if d == nil || google[f.Name] {
				continue
			}
			if words := f.Name == "Anthropic" || f.Name == "Bedrock"; words && want == 9*second {
				continue // their prose states no waits but dates
			}
			r := d.ReadHeaders(http.StatusTooManyRequests, http.Header{}, time.Unix(1_800_000_000, 0))
			d.ReadFailure(http.StatusTooManyRequests, http.Header{}, []byte(body), &r)
			got := r.RetryAfter
			if r.Source == "" || r.Source == "none" {
				got = -1
			}
			if got != want {
				t.Errorf("%s: %s waits for %s, want %s", f.Name, body, got, want)
			}
		}
	}
}

// TestA9MembersOfEventsAreReadToo: the same error inside a stream.
func TestA9MembersOfEventsAreReadToo(t *testing.T) {
	for name, path := range map[string]string{
		"OpenAI": "/v1/chat/completions", "Anthropic": "/v1/messages", "Groq": "/openai/v1/chat/completions", "Generic": "/v1/chat/completions",
		"Cohere": "/v2/chat",
	} {
		d := ByName(name)
		m := d.NewMeter(d.Operation(http.MethodPost, path), http.Header{"Content-Type": {"text/event-stream"}}, dialect.MeterOptions{Stream: true})
		m.Write([]byte("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"slow\",\"retry_after\":31}}\n\n"))
		m.Close()
		if f, failed := m.StreamFailure(); !failed || !f.Waits || f.Wait != 31*time.Second {
			t.Errorf("%s: failed %v, waits %v for %s", name, failed, f.Waits, f.Wait)
		}
	}
}

// TestProseOfSomethingElseIsNoWait: what waited in vain, another limit's reset and the time that an approval takes are not
// what the call has to wait for where that is said, or at all.
func TestProseOfSomethingElseIsNoWait(t *testing.T) {
	for _, tc := range []struct {
		dialect string
		status  int
		body    string
		want    time.Duration
	}{
		{"OpenAI", 429, `{"error":{"code":"rate_limit_exceeded","message":"10 requests per minute. Please try again in 6s. Your daily allowance resets in 13 hours."}}`, 6 * time.Second},
		{"OpenAI", 429, `{"error":{"message":"For a raise please wait 2 days for approval. Try again in 3s"}}`, 3 * time.Second},
		{"OpenAI", 503, `{"error":{"message":"Engine timed out: wait for 600 seconds exceeded"}}`, 0},
		{"OpenAI", 502, `{"error":{"message":"Connection reset after 600 seconds"}}`, 0},
		{"OpenAI", 429, `{"error":{"message":"Your allowance resets in 13 hours."}}`, 13 * time.Hour},
		{"Generic", 500, `{"error":{"message":"context deadline exceeded: wait for 3600s lock"}}`, 0},
		{"Generic", 503, `{"error":{"message":"The model is loading, please wait for 20 minutes. The cache resets in 2 days."}}`, 20 * time.Minute},
		{"OpenRouter", 429, `{"error":{"message":"Retry in 3s","metadata":{"raw":"Your allowance resets in 13 hours."}}}`, 3 * time.Second},
		{"OpenRouter", 429, `{"error":{"message":"x","metadata":{"raw":"Your allowance resets in 13 hours.","headers":{"retry-after":"6"}}}}`, 6 * time.Second},
		{"OpenRouter", 429, `{"error":{"message":"x","metadata":{"raw":"Your allowance resets in 13 hours."}}}`, 13 * time.Hour},
	} {
		d := ByName(tc.dialect)
		r := d.ReadHeaders(tc.status, http.Header{}, received)
		if d.ReadFailure(tc.status, http.Header{}, []byte(tc.body), &r); r.RetryAfter != tc.want {
			t.Errorf("%s %d %s waits for %s, want %s", tc.dialect, tc.status, tc.body, r.RetryAfter, tc.want)
		}
	}
}
