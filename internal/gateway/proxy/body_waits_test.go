// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/plan"
)

const geminiPath = "/gemini/v1beta/models/gemini-2.5-flash:generateContent"

// exhaustedBy is Google's refusal with its message and details.
func exhaustedBy(message, details string) string {
	return fmt.Sprintf(`{"error":{"code":429,"message":%q,"status":"RESOURCE_EXHAUSTED","details":[%s]}}`, message, details)
}

// TestA9WaitsThatStandInBodiesAreHonoured to the nanosecond, in whatever form and coding the body comes.
//
// Fault A9: Google's waits stand in the body, in several places and forms, so clients that read headers only came back
// at once.
// Headgate: The longest wait that the body states is honoured to the nanosecond, as an object, in an array, and
// compressed.
func TestA9WaitsThatStandInBodiesAreHonoured(t *testing.T) {
	const retryInfo = `{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"%s"}`
	plainly := exhaustedBy("m", fmt.Sprintf(retryInfo, "45.837906927s"))
	for name, tc := range map[string]struct {
		coding, body string
		want         time.Duration
	}{
		"an object":        {"", plainly, 45837906927},
		"an array":         {"", "[" + plainly + "\n]", 45837906927},
		"an array, zipped": {"gzip", "[" + plainly + "]", 45837906927},
		"milliseconds":     {"br", exhaustedBy("m", `{"reason":"RATE_LIMIT_EXCEEDED","metadata":{"quotaResetDelay":"373.801628ms"}}`), 373801628},
		"the longest":      {"", exhaustedBy("Please retry in 58.934s.", fmt.Sprintf(retryInfo, "58s")), 58934 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			s := scripted(func(n int, w http.ResponseWriter, _ *http.Request) {
				switch {
				case n > 1:
					fail(w, http.StatusOK, `{"candidates":[{"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":1}}`)
				case tc.coding == "":
					fail(w, http.StatusTooManyRequests, tc.body)
				default:
					fail(w, http.StatusTooManyRequests, string(compressed(tc.coding, tc.body)), "Content-Encoding", tc.coding)
				}
			})
			route := routeTo("gemini", "Gemini", perMinute("requests", plan.Requests, 600))
			route.Throttle.HonourCeilingMillis, route.Deadline.DefaultMillis, route.Lanes[0].MaxWaitMillis = 120_000, 300_000, 300_000
			simulate(t, s, onePolicy(route), func(w *world) {
				w.gateway.opts.Rand = func() float64 { return 0 }
				a := w.post(geminiPath, `{"contents":[{"parts":[{"text":"hi"}]}]}`, "x-goog-api-key", "k", "Accept-Encoding", "gzip, br")
				if a.status != http.StatusOK || s.count() != 2 {
					t.Fatalf("answer %d %s after %d sends", a.status, a.body, s.count())
				}
				if gap := s.gap(1); gap < tc.want || gap > tc.want*5/4+time.Second {
					t.Errorf("sent again %s after it was told %s", gap, tc.want)
				}
				w.atRest()
			})
		})
	}
}

// TestA10WhatCannotBeReadIsCountedAndBelievedByNobody: neither a wait of nothing nor a bucket of -1 comes of it.
func TestA10WhatCannotBeReadIsCountedAndBelievedByNobody(t *testing.T) {
	s := scripted(func(n int, w http.ResponseWriter, _ *http.Request) {
		for bucket, values := range map[string][3]string{"Tokens": {"-1", "-1", "0"}, "Requests": {"500", "3", "soon"}} {
			for i, what := range []string{"Limit", "Remaining", "Reset"} {
				w.Header().Set("X-Ratelimit-"+what+"-"+bucket, values[i])
			}
		}
		if n == 1 {
			throttle(w)
			return
		}
		fail(w, http.StatusOK, `{"object":"chat.completion","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}`)
	})
	simulate(t, s, onePolicy(openaiRoute(perMinute("tokens", plan.Tokens, 60_000))), func(w *world) {
		w.gateway.opts.Rand = func() float64 { return 0 }
		a := w.post("/openai/v1/chat/completions", `{"model":"m","messages":[]}`, "authorization", "Bearer sk-1")
		if a.status != http.StatusOK || s.count() != 2 || s.gap(1) < 100*time.Millisecond || s.gap(1) > 10*time.Second {
			t.Fatalf("answer %d after %d sends, %s apart", a.status, s.count(), s.gap(1))
		}
		if missing := w.figures("openai").tally.MissingByReason(); len(missing) != 1 || missing["absent"] != 0 {
			t.Errorf("what could not be read is counted as %v", missing)
		}
		if level := w.figures("openai").level("tokens"); level < 59_000 || level > 60_000 {
			t.Errorf("the level is %v", level)
		}
		w.atRest()
	})
}

// TestA4TheTimeInTheQueueCountsWhenARetryIsDecided: 40 s were 20 s when the provider asked for 30.
func TestA4TheTimeInTheQueueCountsWhenARetryIsDecided(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-First") != "" {
			answerOK(w)
			return
		}
		throttle(w, "Retry-After", "30")
	})
	route := anthropicRoute(perMinute("requests", plan.Requests, 3))
	simulate(t, s, onePolicy(route), func(w *world) {
		for range 3 {
			w.ask(10, "X-First", "1")
		}
		a := w.ask(10, HeaderDeadline, "40s")
		if a.status != http.StatusTooManyRequests || a.took < 20*time.Second || a.took > 21*time.Second || s.count() != 4 {
			t.Errorf("answer %d after %s and %d sends", a.status, a.took, s.count())
		}
		if a.header.Get(HeaderReason) != "Deadline" || a.header.Get("Retry-After") != "30" {
			t.Errorf("headers %v", a.header)
		}
		w.atRest()
	})
}

// TestA11PeekHoldsNoMoreThanItsBound: a stream whose opening is long begins before its content.
func TestA11PeekHoldsNoMoreThanItsBound(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) {
		event(w, "message_start", messageStart)
		for range 2 * peekBytes / 1000 {
			event(w, "ping", fmt.Sprintf(`{"type":"ping","fill":"%01000d"}`, 0))
		}
		time.Sleep(10 * time.Second)
		event(w, "content_block_delta", delta("hi"))
		finish(w, 20)
	})
	simulate(t, s, onePolicy(anthropicRoute(canonical...)), func(w *world) {
		resp := w.open(w.t.Context(), anthropicPath, streamed(10))
		if took := time.Since(w.start); took > peekTime/2 {
			t.Errorf("the headers came after %s", took)
		}
		_, err := io.ReadFull(resp.Body, make([]byte, peekBytes))
		if took := time.Since(w.start); err != nil || took > peekTime/2 {
			t.Errorf("the first %d bytes came after %s, %v", peekBytes, took, err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		w.atRest()
	})
}
