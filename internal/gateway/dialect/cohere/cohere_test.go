// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package cohere

import (
	"net/http"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

var noon = time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)

// TestOperations of both versions, and of OpenAI's API beside them.
func TestOperations(t *testing.T) {
	of := func(name string, format dialect.Format) dialect.Operation {
		return dialect.Operation{Name: name, Format: format, Metered: true}
	}
	other, free := dialect.Operation{Name: "other"}, dialect.Operation{Name: "other", Free: true}
	cases := []struct {
		method, path string
		want         dialect.Operation
	}{
		{"POST", "/v2/chat", of("chat", dialect.FormatCohere)},
		{"POST", "/v1/chat", of("chat", dialect.FormatCohere)},
		{"POST", "/chat", of("chat", dialect.FormatCohere)},
		{"POST", "//v2//chat/", of("chat", dialect.FormatCohere)},
		{"POST", "/v2/embed", of("embeddings", dialect.FormatCohere)},
		{"POST", "/v1/generate", of("generate", dialect.FormatCohere)},
		{"POST", "/v2/rerank", other},
		{"POST", "/v1/tokenize", free},
		{"GET", "/v1/models", free},
		{"GET", "/v1/models/command-a-03-2025", free},
		{"POST", "/v1/models", other},
		{"GET", "/v1/datasets", other},
		{"POST", "/compatibility/v1/chat/completions", of("chat", dialect.FormatChat)},
		{"POST", "/compatibility/v1/embeddings", of("embeddings", dialect.FormatChat)},
		{"GET", "/", other},
	}
	for _, tc := range cases {
		if got := (Dialect{}).Operation(tc.method, tc.path); got != tc.want {
			t.Errorf("%s %s: %+v, want %+v", tc.method, tc.path, got, tc.want)
		}
	}
	for path, want := range map[string]string{
		"/chat": "/v2/chat", "/embed": "/v2/embed", "/models": "/v1/models", "/tokenize": "/v1/tokenize", "/v1/chat": "/v1/chat",
		"/compatibility/v1/embeddings": "/compatibility/v1/embeddings", "/chat/completions": "/compatibility/v1/chat/completions",
		"/v1/chat/completions": "/compatibility/v1/chat/completions", "/embeddings": "/compatibility/v1/embeddings", "/": "/",
	} {
		if got := (Dialect{}).Path(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// TestA7TheMonthIsToldFromTheMinute: the trial key's two limits are one sentence.
func TestA7TheMonthIsToldFromTheMinute(t *testing.T) {
	const trial = "You are using a Trial key, which is limited to "
	cases := []struct {
		status  int
		message string
		want    dialect.Class
		budget  string
	}{
		{429, trial + "20 API calls / minute.", dialect.ClassThrottle, "Requests"},
		{429, trial + "1000 API calls / month.", dialect.ClassQuota, "Requests"},
		{429, "trial token rate limit exceeded, limit is 100000 tokens per minute", dialect.ClassThrottle, "Tokens"},
		{429, "You are past the per minute request limit, please wait and try again later.", dialect.ClassThrottle, "Requests"},
		{402, "Please add or update your payment method", dialect.ClassQuota, ""},
		{400, "too many tokens: total number of tokens in the prompt cannot exceed 4081", dialect.ClassPermanent, ""},
		{401, "invalid api token", dialect.ClassPermanent, ""},
		{499, "request cancelled", dialect.ClassPermanent, ""},
		{500, "internal server error", dialect.ClassTransient, ""},
		{503, "service unavailable", dialect.ClassOverload, ""},
	}
	for _, tc := range cases {
		d := Dialect{}
		r := d.ReadHeaders(tc.status, http.Header{}, noon)
		f := d.ReadFailure(tc.status, http.Header{}, []byte(`{"message":"`+tc.message+`"}`), &r)
		if f.Class != tc.want || f.Budget != tc.budget || r.Source != dialect.SourceNone {
			t.Errorf("%d %s: %+v from %s, want %s", tc.status, tc.message, f, r.Source, tc.want)
		}
	}
}

// TestA10TheResetSDKsRead is in seconds since 1970.
func TestA10TheResetSDKsRead(t *testing.T) {
	d := Dialect{}
	h := http.Header{"X-Ratelimit-Reset": {"1781524890"}}
	r := d.ReadHeaders(429, h, noon)
	d.ReadFailure(429, h, []byte(`{"message":"m"}`), &r)
	if r.RetryAfter != 90*time.Second || r.Source != dialect.SourceResetHeader {
		t.Errorf("%v from %s", r.RetryAfter, r.Source)
	}
}

// TestA17RefusalsAreFlat, as all of the provider's errors.
func TestA17RefusalsAreFlat(t *testing.T) {
	status, h, body := Dialect{}.Refusal(dialect.Refusal{Status: 429, Message: "headgate: m", RetryAfter: time.Second})
	if status != 429 || string(body) != `{"message":"headgate: m"}` || h.Get("Retry-After") != "1" {
		t.Errorf("%d %v %s", status, h, body)
	}
	if f := classifyEvent([]byte(`{"type":"message-end","delta":{"finish_reason":"ERROR","error":"m"}}`)); f.Message != "m" || f.Class != dialect.ClassTransient {
		t.Errorf("%+v", f)
	}
}
