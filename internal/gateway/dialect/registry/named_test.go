// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"net/http"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
)

// TestRefusalsNameTheirBudget: by type, code, header or words, as each provider does it.
func TestRefusalsNameTheirBudget(t *testing.T) {
	for _, tc := range []struct{ dialect, limit, body, want string }{
		{"Groq", "", `{"error":{"message":"Rate limit reached on tokens per minute (TPM): Limit 1","type":"tokens","code":"rate_limit_exceeded"}}`, plan.Tokens},
		{"Groq", "", `{"error":{"message":"Rate limit reached on requests per minute (RPM): Limit 30","code":"rate_limit_exceeded"}}`, plan.Requests},
		{"Cerebras", "", `{"message":"Tokens per minute limit exceeded","param":"quota","code":"token_quota_exceeded"}`, plan.Tokens},
		{"Cerebras", "", `{"message":"Requests per day limit exceeded","param":"quota","code":"request_quota_exceeded"}`, plan.Requests},
		{"Together", "", `{"error":{"message":"x","type":"dynamic_token_limited"}}`, plan.Tokens},
		{"Together", "", `{"error":{"message":"x","error_type":"dynamic_request_limited"}}`, plan.Requests},
		{"Fireworks", "", `{"error":{"message":"Rate limit exceeded: generated tokens per minute"}}`, plan.OutputTokens},
		{"XAI", "", `{"code":"resource-exhausted","error":"Too many tokens for team T. Your team's rate limit is — Tokens per Minute (actual/limit): 2/1."}`, plan.Tokens},
		{"XAI", "", `{"code":"resource-exhausted","error":"Too many requests for team T. Tokens per Minute (actual/limit): 1/2, Requests per Minute (actual/limit): 5/5."}`, plan.Requests},
		{"GitHubModels", "UserByModelByMinute", "", plan.Requests},
		{"GitHubModels", "UserByModelByMinuteTokens", "", plan.Tokens},
		{"GitHubModels", "UserByModelByMinuteUncachedInputTokens", "", plan.InputTokens},
		{"GitHubModels", "UserByModelByMinuteUncachedOutputTokens", "", plan.OutputTokens},
		{"GitHubModels", "UserConcurrentRequests", "", plan.InFlight},
		{"GitHubModels", "", `{"error":{"code":"RateLimitReached","message":"Rate limit of 10 per 60s exceeded for UserByModelByMinute. Please wait 46 seconds."}}`, plan.Requests},
		{"GitHubModels", "", "", ""},
		{"Anthropic", "", `{"error":{"type":"rate_limit_error","message":"Number of concurrent connections has exceeded your rate limit."}}`, plan.InFlight},
		{"OpenAI", "", `{"error":{"type":"requests","code":"rate_limit_exceeded","message":"Too many concurrent requests."}}`, plan.InFlight},
		{"Generic", "", `{"error":{"message":"Concurrency limit reached"}}`, plan.InFlight},
		{"Generic", "", `{"error":{"message":"High concurrency usage of this API, please reduce concurrency."}}`, plan.InFlight},
		{"Generic", "", `{"error":{"message":"Your account reached max organization concurrency: 3, please try again after 1 seconds"}}`, plan.InFlight},
		{"Generic", "", `{"error":{"message":"Rate limit: 200 concurrent requests. Your plan has 60 requests per minute."}}`, plan.InFlight},
		{"Generic", "", `{"error":{"message":"You exceeded 60 requests per minute; reduce concurrency. Retry in 5s"}}`, ""},
		{"Generic", "", `{"error":{"message":"Slow down. Please reduce the number of concurrent requests"}}`, ""},
		{"OpenAI", "", `{"error":{"code":"rate_limit_exceeded","type":"tokens","message":"Rate limit reached on tokens per min (TPM): Limit 60000, Used 59000, Requested 2000. Lower your concurrency to avoid this."}}`, plan.Tokens},
		{"OpenAI", "", `{"error":{"code":"rate_limit_exceeded","message":"Rate limit reached on tokens per min (TPM): Limit 60000, Used 59000. Too many concurrent requests do this."}}`, plan.Tokens},
		{"OpenAI", "", `{"error":{"type":"tokens","message":"Too many concurrent requests"}}`, plan.Tokens},
		{"OpenAI", "", `{"error":{"type":"requests","message":"Rate limit reached. Use fewer concurrent requests."}}`, plan.Requests},
		{"Anthropic", "", `{"error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of 50,000 input tokens per minute. Reduce concurrent requests"}}`, plan.InputTokens},
		{"AzureOpenAI", "", `{"error":{"code":"429","message":"Requests have exceeded token rate limit of your tier. Concurrent requests add up."}}`, plan.Tokens},
		{"VertexAI", "", vertex("online_prediction_input_tokens_per_minute_per_base_model"), plan.InputTokens},
		{"VertexAI", "", vertex("online_prediction_output_tokens_per_minute_per_base_model"), plan.OutputTokens},
		{"VertexAI", "", vertex("online_prediction_requests_per_base_model"), plan.Requests},
		{"Perplexity", "", `{"error":{"message":"Request rate limit exceeded, please try again later.","type":"request_rate_limit_exceeded"}}`, plan.Requests},
		{"OpenRouter", "", `{"error":{"message":"Provider returned error","code":429}}`, ""},
		{"Mistral", "", `{"message":"Rate limit exceeded","code":"1300"}`, ""},
		{"DeepSeek", "", `{"error":{"message":"Rate limit reached."}}`, ""},
	} {
		h := http.Header{}
		if tc.limit != "" {
			h.Set("x-ratelimit-type", tc.limit)
		}
		r := ByName(tc.dialect).ReadHeaders(http.StatusTooManyRequests, h, received)
		if f := ByName(tc.dialect).ReadFailure(http.StatusTooManyRequests, h, []byte(tc.body), &r); f.Budget != tc.want {
			t.Errorf("%s %s %s: %q, want %q", tc.dialect, tc.limit, tc.body, f.Budget, tc.want)
		}
	}
}

// vertex is a refusal that names its quota in words alone.
func vertex(quota string) string {
	return `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"Quota exceeded for aiplatform.googleapis.com/` + quota + ` with base model: m. Please submit a request."}}`
}

// TestA10ADebtIsNothingLeft: some report how far a bucket is below zero. That is no "not reported", and its reset is waited for.
func TestA10ADebtIsNothingLeft(t *testing.T) {
	for remaining, want := range map[string]time.Duration{"-354": 20 * time.Second, "-0.5": 20 * time.Second, "0": 20 * time.Second, "-1": 0} {
		h := http.Header{}
		h.Set("x-ratelimit-limit-tokens", "60000")
		h.Set("x-ratelimit-remaining-tokens", remaining)
		h.Set("x-ratelimit-reset-tokens", "20s")
		r := ByName("OpenAI").ReadHeaders(http.StatusTooManyRequests, h, received)
		ByName("OpenAI").ReadFailure(http.StatusTooManyRequests, h, []byte(`{"error":{"type":"tokens","code":"rate_limit_exceeded"}}`), &r)
		if r.RetryAfter != want || want > 0 && (len(r.Budgets) != 1 || r.Budgets[0].Remaining != 0) {
			t.Errorf("%s left: %v, budgets %+v", remaining, r.RetryAfter, r.Budgets)
		}
	}
}

// TestShouldRetryFalseIsNotPermanent: some say so of what is most worth repeating.
func TestShouldRetryFalseIsNotPermanent(t *testing.T) {
	for _, name := range []string{"Cerebras", "Groq", "Together", "Fireworks", "OpenRouter", "AzureOpenAI", "Mistral"} {
		h := http.Header{"X-Should-Retry": {"false"}}
		r := ByName(name).ReadHeaders(http.StatusTooManyRequests, h, received)
		f := ByName(name).ReadFailure(http.StatusTooManyRequests, h, []byte(`{"message":"slow","param":"queue"}`), &r)
		if f.Class == dialect.ClassPermanent || f.Class == dialect.ClassQuota || r.ShouldRetry != "false" {
			t.Errorf("%s: %+v, %q", name, f, r.ShouldRetry)
		}
	}
}

// TestA10OldestTrapsOfResets: -1 and 0 of Azure are no bucket and no "now"; a bare number is seconds there.
func TestA10OldestTrapsOfResets(t *testing.T) {
	h := http.Header{}
	for name, value := range map[string]string{
		"x-ratelimit-limit-tokens": "-1", "x-ratelimit-remaining-tokens": "-1", "x-ratelimit-reset-tokens": "0",
		"x-ratelimit-limit-requests": "60", "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "26",
	} {
		h.Set(name, value)
	}
	r := ByName("AzureOpenAI").ReadHeaders(http.StatusTooManyRequests, h, received)
	if len(r.Budgets) != 1 || r.Budgets[0].Budget != plan.Requests || r.Budgets[0].Reset.Seconds() != 26 {
		t.Errorf("%+v", r.Budgets)
	}
}
