// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/canary"
)

// TestA11OverloadInsideAStreamThatIsNotRetriedReachesTheClientWhole: the attempts are used up, or the class is
// none that is retried. An empty 200 would be taken for an empty success.
func TestA11OverloadInsideAStreamThatIsNotRetriedReachesTheClientWhole(t *testing.T) {
	const opening = `{"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}`
	for name, tc := range map[string]struct {
		path, body string
		events     []string
	}{
		"anthropic, overloaded": {anthropicPath, streamed(10), []string{
			"event: message_start\ndata: " + messageStart, "event: ping\ndata: {\"type\":\"ping\"}", "event: error\ndata: " + overloaded,
		}},
		"anthropic, never retried": {anthropicPath, streamed(10), []string{
			"event: message_start\ndata: " + messageStart,
			"event: error\ndata: " + `{"type":"error","error":{"type":"invalid_request_error","message":"x"}}`,
		}},
		"openai, with usage injected": {"/openai/v1/chat/completions", `{"model":"m","stream":true,"messages":[]}`, []string{
			"data: " + opening, `data: {"error":{"message":"The server is overloaded","type":"server_error","code":"server_error"}}`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			whole := strings.Join(tc.events, "\n\n") + "\n\n"
			s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, whole)
			})
			simulate(t, s, onePolicy(anthropicRoute(canonical...), openaiRoute(canonical[0])), func(w *world) {
				a := w.post(tc.path, tc.body, "x-api-key", canary.Key("1"), "authorization", "Bearer sk-1")
				if a.err != nil || a.status != http.StatusOK || a.body != whole {
					t.Errorf("answer %d, %v:\n%s\nwant\n%s", a.status, a.err, a.body, whole)
				}
				time.Sleep(time.Minute)
				w.atRest()
			})
		})
	}
}
