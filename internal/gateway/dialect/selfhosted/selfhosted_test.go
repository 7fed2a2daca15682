// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package selfhosted

import (
	"net/http"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

var noon = time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)

// TestOperations of all three servers: none of their paths is taken for another's.
func TestOperations(t *testing.T) {
	of := func(name string, format dialect.Format, stream bool) dialect.Operation {
		return dialect.Operation{Name: name, Format: format, Metered: true, Stream: stream}
	}
	other, free := dialect.Operation{Name: "other"}, dialect.Operation{Name: "other", Free: true}
	cases := []struct {
		method, path string
		want         dialect.Operation
	}{
		{"POST", "/v1/chat/completions", of("chat", dialect.FormatChat, false)},
		{"POST", "/chat/completions", of("chat", dialect.FormatChat, false)},
		{"POST", "/v1/completions", of("completions", dialect.FormatChat, false)},
		{"POST", "/v1/embeddings", of("embeddings", dialect.FormatChat, false)},
		{"POST", "/v1/responses", of("responses", dialect.FormatResponses, false)},
		{"POST", "/v1/messages", of("messages", dialect.FormatMessages, false)},
		{"POST", "/v1/messages/count_tokens", free},
		{"GET", "/v1/models", free},
		{"POST", "/", of("generate", dialect.FormatTGI, false)},
		{"POST", "/generate", of("generate", dialect.FormatTGI, false)},
		{"POST", "//generate/", of("generate", dialect.FormatTGI, false)},
		{"POST", "/generate_stream", of("generate", dialect.FormatTGI, true)},
		{"POST", "/tokenize", free},
		{"GET", "/info", free},
		{"GET", "/", other},
		{"GET", "/generate", other},
		{"POST", "/api/chat", of("chat", dialect.FormatOllama, false)},
		{"POST", "/api/generate", of("generate", dialect.FormatOllama, false)},
		{"POST", "/api/embed", of("embeddings", dialect.FormatOllama, false)},
		{"GET", "/api/tags", free},
		{"POST", "/api/pull", other},
		{"DELETE", "/api/delete", other},
	}
	for _, tc := range cases {
		if got := Dialect.Operation(tc.method, tc.path); got != tc.want {
			t.Errorf("%s %s: %+v, want %+v", tc.method, tc.path, got, tc.want)
		}
	}
	for path, want := range map[string]string{
		"/generate": "/generate", "/api/chat": "/api/chat", "/wake_up": "/wake_up", "/": "/", "/chat/completions": "/v1/chat/completions",
		"/v1/v1/chat/completions": "/v1/chat/completions", "/models": "/v1/models",
	} {
		if got := Dialect.Path(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// TestB5OwnAPIsAreNotAskedForUsage: only OpenAI's knows the question.
func TestB5OwnAPIsAreNotAskedForUsage(t *testing.T) {
	for path, want := range map[string]bool{"/v1/chat/completions": true, "/api/chat": false, "/generate_stream": false, "/v1/messages": false} {
		if _, ok := Dialect.InjectUsage(Dialect.Operation(http.MethodPost, path), []byte(`{"stream":true}`)); ok != want {
			t.Errorf("%s: %v", path, ok)
		}
	}
}

// TestServersAreOverloadedNotThrottled: a server without accounts has queues, whatever status it gives them.
func TestServersAreOverloadedNotThrottled(t *testing.T) {
	cases := []struct {
		status int
		body   string
		want   dialect.Class
	}{
		{429, `{"error":"Model is overloaded","error_type":"overloaded"}`, dialect.ClassOverload},
		{422, `{"error":"Input validation error: inputs must have less than 1024 tokens","error_type":"validation"}`, dialect.ClassPermanent},
		{424, `{"error":"Request failed during generation","error_type":"generation"}`, dialect.ClassTransient},
		{500, `{"error":"Incomplete generation","error_type":"incomplete_generation"}`, dialect.ClassTransient},
		{503, `{"error":"server busy, please try again.  maximum pending requests exceeded"}`, dialect.ClassOverload},
		{404, `{"error":"model 'm' not found"}`, dialect.ClassPermanent},
		{503, `{"error":{"message":"Too many queued requests","type":"ServiceUnavailableError","param":null,"code":503}}`, dialect.ClassOverload},
		{429, `{"error":{"message":"The waiting queue is full","type":"TooManyRequestsError","param":null,"code":429}}`, dialect.ClassOverload},
		{429, `{"error":{"message":"Rate limit of the proxy before it","type":"x","code":429}}`, dialect.ClassThrottle},
		{429, `{"error":"you have reached your hourly usage limit, please upgrade to continue"}`, dialect.ClassQuota},
		{400, `{"error":{"message":"This model's maximum context length is 4096 tokens.","type":"BadRequestError","code":400}}`, dialect.ClassPermanent},
		{400, `{"object":"error","message":"the queue parameter is wrong","type":"BadRequestError","code":400}`, dialect.ClassPermanent},
	}
	for _, tc := range cases {
		r := Dialect.ReadHeaders(tc.status, http.Header{}, noon)
		if f := Dialect.ReadFailure(tc.status, http.Header{}, []byte(tc.body), &r); f.Class != tc.want || f.Message == "" {
			t.Errorf("%d %s: %+v, want %s", tc.status, tc.body, f, tc.want)
		}
	}
}
