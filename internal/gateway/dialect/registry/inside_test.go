// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"net/http"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// TestA11ErrorsInsideStreamsStateTheirWaits: an error inside a success has no headers, and what it says in its words or
// its details is all there is. A time of day says nothing there, for no clock is known to hold it against.
func TestA11ErrorsInsideStreamsStateTheirWaits(t *testing.T) {
	const words = `data: {"error":{"code":"rate_limit_exceeded","message":"Rate limit reached. Please try again in 1m2.5s."}}` + "\n\n"
	cases := map[string]struct {
		name, path, event string
		want              time.Duration
	}{
		"OpenAI":  {"OpenAI", "/v1/chat/completions", words, 62500 * time.Millisecond},
		"Groq":    {"Groq", "/openai/v1/chat/completions", words, 62500 * time.Millisecond},
		"Generic": {"Generic", "/v1/chat/completions", words, 62500 * time.Millisecond},
		"Azure": {
			"AzureOpenAI", "/openai/v1/chat/completions", "data: {\"error\":{\"code\":\"429\",\"message\":\"Please retry after 22 seconds.\"}}\n\n",
			22 * time.Second,
		},
		"OpenRouter": {
			"OpenRouter", "/api/v1/chat/completions",
			"data: {\"error\":{\"code\":429,\"message\":\"x\",\"metadata\":{\"retry_after_seconds\":7}},\"choices\":[]}\n\n", 7 * time.Second,
		},
		"OpenRouter, a date": {
			"OpenRouter", "/api/v1/chat/completions",
			"data: {\"error\":{\"code\":429,\"message\":\"x\",\"metadata\":{\"headers\":{\"Retry-After\":\"Mon, 15 Jun 2026 12:00:00 GMT\"}}}}\n\n", -1,
		},
		"Gemini": {
			"Gemini", "/v1beta/models/m:streamGenerateContent",
			"data: {\"error\":{\"code\":429,\"status\":\"RESOURCE_EXHAUSTED\",\"details\":[{\"retryDelay\":\"34.07s\"}]}}\n\n", 34070 * time.Millisecond,
		},
		"Gemini, a date": {
			"Gemini", "/v1beta/models/m:streamGenerateContent",
			"data: {\"error\":{\"code\":429,\"details\":[{\"metadata\":{\"quotaResetTimeStamp\":\"2026-06-15T12:00:00Z\"}}]}}\n\n", -1,
		},
		"nothing said": {"OpenAI", "/v1/chat/completions", "data: {\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"x\"}}\n\n", -1},
	}
	for name, tc := range cases {
		d := ByName(tc.name)
		h := http.Header{"Content-Type": {"text/event-stream"}}
		m := d.NewMeter(d.Operation(http.MethodPost, tc.path), h, dialect.MeterOptions{Stream: true})
		m.Write([]byte(tc.event))
		f, failed := m.StreamFailure()
		if !failed || f.Class != dialect.ClassThrottle || f.Waits != (tc.want >= 0) || f.Waits && f.Wait != tc.want {
			t.Errorf("%s: %+v, want a throttle with a wait of %s", name, f, tc.want)
		}
	}
}
