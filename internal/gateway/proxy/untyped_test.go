// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/plan"
)

// TestB6AndB9AndA11StreamsOfAnotherTypeAreReadLikeOthers: servers and proxies send events as text, as bytes and as JSON. What was
// injected goes, what breaks off is told, an overload is retried, and what is charged is what was used, not the length of it.
func TestB6AndB9AndA11StreamsOfAnotherTypeAreReadLikeOthers(t *testing.T) {
	const path, body = "/openai/v1/chat/completions", `{"model":"m","max_tokens":300,"stream":true,"messages":[]}`
	const chunk = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},\"finish_reason\":null}]}\n\n"
	const use, end = "data: " + chunkUsage + "\n\n", "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
	const whole = chunk + end + use + "data: [DONE]\n\n"
	for name, tc := range map[string]struct {
		first, length string
		cut           bool
		sends         int
		outcome       string
	}{
		"whole":             {whole, "", false, 1, outcomeSuccess},
		"broken off":        {chunk + chunk, "", true, 1, outcomeTruncated},
		"short by a length": {chunk + chunk, strconv.Itoa(2 * len(chunk)), true, 1, outcomeTruncated},
		"overloaded":        {"data: {\"error\":{\"code\":\"server_is_overloaded\"}}\n\n", "", false, 2, outcomeSuccess},
		"refused for usage": {"data: {\"error\":{\"message\":\"stream_options is not supported\"}}\n\n", "", false, 2, outcomeSuccess},
	} {
		for _, media := range []string{"text/plain; charset=utf-8", "application/octet-stream", "application/json"} {
			t.Run(name+", "+media, func(t *testing.T) {
				s := scripted(func(n int, w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", media)
					text := whole
					if n == 1 {
						if text = tc.first; tc.length != "" {
							w.Header().Set("Content-Length", tc.length)
						}
					}
					for event := range strings.SplitAfterSeq(text, "\n\n") {
						_, _ = io.WriteString(w, event)
						_ = http.NewResponseController(w).Flush()
					}
				})
				simulate(t, s, onePolicy(openaiRoute(perMinute("tokens", plan.Tokens, 60_000))), func(w *world) {
					asked := body
					if tc.length != "" { // what is taken out of a body takes its length away
						asked = strings.Replace(body, `"stream":true`, `"stream":true,"stream_options":{"include_usage":true}`, 1)
					}
					a := w.post(path, asked)
					if (a.err != nil) != tc.cut || a.status != http.StatusOK || s.count() != tc.sends {
						t.Errorf("answer %d %q %v after %d sends", a.status, a.body, a.err, s.count())
					}
					if rejected := name == "refused for usage"; strings.Contains(a.body, `"choices":[]`) != rejected || !strings.HasPrefix(a.body, chunk) {
						t.Errorf("the client sees %q", a.body)
					}
					w.atRest()
					w.endedAs(tc.outcome, 1)
					if tokens := w.figures("openai").tally.TokensByModel()["m"]; !tc.cut && tokens.Output != 200 {
						t.Errorf("metered %+v", tokens)
					}
				})
			})
		}
	}
}
