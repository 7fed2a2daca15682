// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"net/http"
	"strings"
	"testing"
	"time"

	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

var received = time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)

// TestEveryDialectIsFound by the name and the route the facts give it.
func TestEveryDialectIsFound(t *testing.T) {
	for _, f := range facts.All() {
		for _, d := range []dialect.Dialect{ByName(f.Name), ByRoute(f.Route)} {
			if d == nil || d.Facts().Name != f.Name {
				t.Errorf("%s: %v", f.Name, d)
			}
		}
	}
	if ByName("nobody") != nil || ByRoute("") != nil {
		t.Error("found what is not there")
	}
}

// TestOperations: every spelling of a path that the provider would take for the operation is metered.
func TestOperations(t *testing.T) {
	metered := func(name string) dialect.Operation {
		format := dialect.Format(name)
		if name == "embeddings" || name == "completions" {
			format = dialect.FormatChat
		}
		return dialect.Operation{Name: name, Format: format, Metered: true}
	}
	free, other := dialect.Operation{Name: "other", Free: true}, dialect.Operation{Name: "other"}
	cases := []struct {
		dialect, method, path string
		want                  dialect.Operation
	}{
		{"OpenAI", "POST", "/v1/chat/completions", metered("chat")},
		{"OpenAI", "POST", "/chat/completions", metered("chat")},
		{"OpenAI", "POST", "//v1//chat/completions/", metered("chat")},
		{"OpenAI", "POST", "/v1/%63hat/completions", metered("chat")},
		{"OpenAI", "POST", "/v1/x/../chat/completions", metered("chat")},
		{"OpenAI", "POST", "/v1/responses", metered("responses")},
		{"OpenAI", "POST", "/v1/embeddings", metered("embeddings")},
		{"OpenAI", "POST", "/v1/completions", metered("completions")},
		{"OpenAI", "POST", "/v1/responses/input_tokens", free},
		{"OpenAI", "GET", "/v1/models", free},
		{"OpenAI", "GET", "/models/gpt-5", free},
		{"OpenAI", "DELETE", "/v1/models/ft", other},
		{"OpenAI", "GET", "/v1/responses/resp_1", other},
		{"OpenAI", "POST", "/v1/images/generations", other},
		{"Anthropic", "POST", "/v1/messages", metered("messages")},
		{"Anthropic", "POST", "/messages", metered("messages")},
		{"Anthropic", "POST", "/v1/messages/count_tokens", free},
		{"Anthropic", "POST", "/v1/messages/batches", other},
		{"Anthropic", "GET", "/v1/models", free},
		{"Anthropic", "GET", "/v1/messages", other},
		{"Generic", "POST", "/api/v3/chat/completions", metered("chat")},
		{"Generic", "POST", "/anthropic/v1/messages", metered("messages")},
		{"Generic", "POST", "/v1/messages/count_tokens", free},
		{"Generic", "POST", "/generate", other},
		{"Generic", "GET", "/openai/v1/models", free},
	}
	for _, tc := range cases {
		if got := ByName(tc.dialect).Operation(tc.method, tc.path); got != tc.want {
			t.Errorf("%s %s %s: %+v, want %+v", tc.dialect, tc.method, tc.path, got, tc.want)
		}
	}
}

// TestA7QuotaIsToldFromThrottle: by code, never by the sentence both have.
func TestA7QuotaIsToldFromThrottle(t *testing.T) {
	cases := []struct {
		dialect string
		status  int
		body    string
		want    dialect.Class
	}{
		{"OpenAI", 429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`, dialect.ClassQuota},
		{"OpenAI", 429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":null}}`, dialect.ClassQuota},
		{"OpenAI", 429, `{"error":{"message":"You exceeded your current quota","type":"requests","code":"rate_limit_exceeded"}}`, dialect.ClassThrottle},
		{"OpenAI", 403, `{"error":{"type":"insufficient_quota","code":"organization_spend_limit_exceeded"}}`, dialect.ClassQuota},
		{"OpenAI", 429, `{"error":{"type":"requests","code":"project_spend_limit_exceeded"}}`, dialect.ClassQuota},
		{"OpenAI", 429, `{"error":{"message":"Request too large for gpt-5 (TPM): Limit 30000, Requested 40000.","type":"tokens","code":"rate_limit_exceeded"}}`, dialect.ClassPermanent},
		{"OpenAI", 429, `{"error":{"message":"Rate limit reached on tokens per day (TPD): Limit 9","type":"tokens","code":"rate_limit_exceeded"}}`, dialect.ClassQuota},
		{"OpenAI", 429, `{"error":{"message":"The engine is currently overloaded","type":"server_error","code":null}}`, dialect.ClassOverload},
		{"OpenAI", 503, `{"error":{"message":"Slow down","type":"server_error","code":"slow_down"}}`, dialect.ClassThrottle},
		{"OpenAI", 503, "", dialect.ClassOverload},
		{"OpenAI", 500, "<html>", dialect.ClassTransient},
		{"OpenAI", 401, `{"error":{"code":"invalid_api_key"}}`, dialect.ClassPermanent},
		{"OpenAI", 404, "", dialect.ClassPermanent},
		{"Anthropic", 429, `{"type":"error","error":{"type":"rate_limit_error","message":"x"}}`, dialect.ClassThrottle},
		{"Anthropic", 429, `{"type":"error","error":{"type":"rate_limit_error","details":{"error_code":"out_of_credits"}}}`, dialect.ClassQuota},
		{"Anthropic", 402, `{"type":"error","error":{"type":"billing_error"}}`, dialect.ClassQuota},
		{"Anthropic", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"You have reached your specified API usage limits."}}`, dialect.ClassQuota},
		{"Anthropic", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: required"}}`, dialect.ClassPermanent},
		{"Anthropic", 429, `{"type":"error","error":{"type":"rate_limit_error","message":"Extra usage is required for long context requests."}}`, dialect.ClassPermanent},
		{"Anthropic", 529, "", dialect.ClassOverload},
		{"Anthropic", 500, `{"type":"error","error":{"type":"overloaded_error"}}`, dialect.ClassOverload},
		{"Anthropic", 504, `{"type":"error","error":{"type":"timeout_error"}}`, dialect.ClassTransient},
		{"Anthropic", 413, `{"type":"error","error":{"type":"request_too_large"}}`, dialect.ClassPermanent},
		{"Generic", 429, `{"error":{"code":"insufficient_quota"}}`, dialect.ClassQuota},
		{"Generic", 402, "", dialect.ClassQuota},
		{"Generic", 429, `{"error":{"code":"1113","message":"Insufficient balance or no resource package. Please recharge."}}`, dialect.ClassQuota},
		{"Generic", 429, `{"error":{"code":"429","type":"None","message":"Budget has been exceeded! Current cost: 0.2, Max budget: 0.1"}}`, dialect.ClassQuota},
		{"Generic", 429, `{"error":{"type":"engine_overloaded_error","message":"The engine is currently overloaded, please try again later"}}`, dialect.ClassOverload},
		{"Generic", 429, `{"error":{"code":"ServerOverloaded","type":"TooManyRequests","message":"unable to handle additional requests"}}`, dialect.ClassOverload},
		{"OpenAI", 429, `{"error":{"message":"Flex processing lacks resources","type":"resource_unavailable","code":"resource_unavailable"}}`, dialect.ClassOverload},
		{"Anthropic", 429, `{"type":"error","error":{"type":"rate_limit_error","message":"Number of request tokens has exceeded your daily rate limit"}}`, dialect.ClassQuota},
		{"VertexAI", 429, `{"error":{"code":429,"message":"Quota exceeded for aiplatform.googleapis.com/requests_per_day with model m.","status":"RESOURCE_EXHAUSTED"}}`, dialect.ClassQuota},
		{"Generic", 529, "", dialect.ClassOverload},
		{"Generic", 418, "", dialect.ClassPermanent},
	}
	for _, tc := range cases {
		var r dialect.Reading
		if got := ByName(tc.dialect).ReadFailure(tc.status, http.Header{}, []byte(tc.body), &r).Class; got != tc.want {
			t.Errorf("%s %d %s: %s, want %s", tc.dialect, tc.status, tc.body, got, tc.want)
		}
	}
}

// TestNamedBudgets: the budget a refusal names lowers that budget alone.
func TestNamedBudgets(t *testing.T) {
	for body, want := range map[string]string{
		`{"error":{"message":"x (TPM): Limit 1","code":"rate_limit_exceeded"}}`:                             "Tokens",
		`{"error":{"type":"requests","code":"rate_limit_exceeded"}}`:                                        "Requests",
		`{"error":{"type":"rate_limit_error","message":"rate limit of 50,000 input tokens per minute"}}`:    "InputTokens",
		`{"error":{"type":"rate_limit_error","message":"rate limit of 8,000 output tokens per minute"}}`:    "OutputTokens",
		`{"error":{"type":"rate_limit_error","message":"exceed the rate limit of 50 requests per minute"}}`: "Requests",
	} {
		d := ByName("Anthropic")
		if strings.Contains(body, "exceeded") {
			d = ByName("OpenAI")
		}
		var r dialect.Reading
		if got := d.ReadFailure(429, http.Header{}, []byte(body), &r).Budget; got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

// TestB5RejectedUsage: a provider that does not know the option names it.
func TestB5RejectedUsage(t *testing.T) {
	d := ByName("OpenAI")
	var r dialect.Reading
	for body, want := range map[string]bool{
		`{"error":{"message":"Unrecognized request argument supplied: stream_options","param":null}}`: true,
		`{"detail":[{"loc":["body","stream_options"],"msg":"extra fields not permitted"}]}`:           true,
		`{"error":{"message":"max_tokens is too large"}}`:                                             false,
	} {
		if got := d.ReadFailure(400, http.Header{}, []byte(body), &r).RejectsUsage; got != want {
			t.Errorf("%s: %v", body, got)
		}
	}
	if d.ReadFailure(429, http.Header{}, []byte("stream_options"), &r).RejectsUsage {
		t.Error("a 429 rejects no option")
	}
}

// TestInjectUsageWhereItIsKnown: chat and completions of OpenAI's shape, nothing else.
func TestInjectUsageWhereItIsKnown(t *testing.T) {
	body := []byte(`{"stream":true}`)
	for name, want := range map[string]string{"OpenAI": "chat completions", "Generic": "chat completions", "Anthropic": ""} {
		for _, op := range []string{"chat", "completions", "responses", "embeddings", "messages", "other"} {
			if _, ok := ByName(name).InjectUsage(dialect.Operation{Name: op}, body); ok != strings.Contains(" "+want+" ", " "+op+" ") {
				t.Errorf("%s %s: %v", name, op, ok)
			}
		}
	}
}

// TestA17RefusalsHaveTheProvidersShape, and the headers that end all retrying.
func TestA17RefusalsHaveTheProvidersShape(t *testing.T) {
	const message = "headgate: team/p: anthropic/input-tokens (400k/min) is used up; fits in 27s, your deadline is 4s. Not sent to Anthropic."
	bodies := map[string]map[int]string{
		"OpenAI": {
			429: `{"error":{"message":"M","type":"rate_limit_error","param":null,"code":"rate_limit_exceeded"}}`,
			503: `{"error":{"message":"M","type":"server_error","param":null,"code":"service_unavailable"}}`,
		},
		"Anthropic": {
			429: `{"type":"error","error":{"type":"rate_limit_error","message":"M"}}`,
			503: `{"type":"error","error":{"type":"api_error","message":"M"}}`,
		},
	}
	bodies["Generic"] = bodies["OpenAI"]
	for name, byStatus := range bodies {
		for status, want := range byStatus {
			got, h, body := ByName(name).Refusal(dialect.Refusal{
				Status: status, Message: message, Reason: "Deadline", Limit: "anthropic/input-tokens", RetryAfter: 26001 * time.Millisecond,
			})
			if want = strings.Replace(want, "M", message, 1); got != status || string(body) != want {
				t.Errorf("%s: %d %s\nwant %s", name, got, body, want)
			}
			for header, value := range map[string]string{
				"Retry-After": "27", "x-should-retry": "false", "x-headgate-reason": "Deadline",
				"x-headgate-limit": "anthropic/input-tokens", "Content-Type": "application/json",
			} {
				if h.Get(header) != value {
					t.Errorf("%s: %s is %q, want %q", name, header, h.Get(header), value)
				}
			}
		}
		if _, h, _ := ByName(name).Refusal(dialect.Refusal{Status: 429}); h.Get("Retry-After") != "1" || len(h["X-Headgate-Limit"]) > 0 {
			t.Errorf("%s: %v", name, h)
		}
	}
}

// TestCredentials: where each provider looks for its key.
func TestCredentials(t *testing.T) {
	for name, header := range map[string]string{"OpenAI": "Authorization", "Anthropic": "X-Api-Key", "Generic": "Authorization"} {
		h := http.Header{"Authorization": {"Bearer app"}, "X-Api-Key": {"app"}}
		if query := ByName(name).SetCredential(h, "a=b", "ours\n"); query != "a=b" {
			t.Errorf("%s: query %q", name, query)
		}
		if got := strings.TrimPrefix(h.Get(header), "Bearer "); got != "ours" || len(h) != 1 {
			t.Errorf("%s: %v", name, h)
		}
	}
}

// TestA10AnthropicBuckets: input, output and requests apart, output too.
func TestA10AnthropicBuckets(t *testing.T) {
	h := http.Header{}
	for _, b := range []string{"Requests", "Input-Tokens", "Output-Tokens"} {
		h.Set("Anthropic-Ratelimit-"+b+"-Limit", "100")
		h.Set("Anthropic-Ratelimit-"+b+"-Remaining", "0")
		h.Set("Anthropic-Ratelimit-"+b+"-Reset", received.Add(7*time.Second).Format(time.RFC3339))
	}
	r := ByName("Anthropic").ReadHeaders(200, h, received)
	if len(r.Budgets) != 3 {
		t.Fatalf("%+v", r.Budgets)
	}
	for _, b := range r.Budgets {
		if b.Reset != 7*time.Second || b.Limit != 100 || b.Window != time.Minute || b.RoundedTo != map[bool]float64{true: 1, false: 1000}[b.Budget == "Requests"] {
			t.Errorf("%+v", b)
		}
	}
}
