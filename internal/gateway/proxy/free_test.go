// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/canary"
)

// breaksOff answers with half of a document, framed by a length or by chunks.
func breaksOff(status int, length string) func(w http.ResponseWriter, r *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		if length != "" {
			w.Header().Set("Content-Length", length)
		}
		fail(w, status, `{"data":[{"id":"a"},`)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// TestB9AndC4FreeCallsEndAsOthersDo: what is charged to nothing is counted by what became of it, and half a list of models does
// not look like a whole one.
func TestB9AndC4FreeCallsEndAsOthersDo(t *testing.T) {
	for name, tc := range map[string]struct {
		provider func(w http.ResponseWriter, r *http.Request)
		leave    time.Duration
		status   int // 0 where the client got none
		whole    bool
		outcome  string
	}{
		"a list":             {func(w http.ResponseWriter, _ *http.Request) { fail(w, http.StatusOK, `{"data":[]}`) }, 0, http.StatusOK, true, outcomeSuccess},
		"a refusal":          {func(w http.ResponseWriter, _ *http.Request) { fail(w, http.StatusNotFound, `{}`) }, 0, http.StatusNotFound, true, outcomeFailed},
		"a throttle":         {func(w http.ResponseWriter, _ *http.Request) { throttle(w, "Retry-After", "3") }, 0, http.StatusTooManyRequests, true, outcomeFailed},
		"half, in chunks":    {breaksOff(http.StatusOK, ""), 0, http.StatusOK, false, outcomeTruncated},
		"half, by a length":  {breaksOff(http.StatusOK, "1000"), 0, http.StatusOK, false, outcomeTruncated},
		"half of a refusal":  {breaksOff(http.StatusNotFound, ""), 0, http.StatusNotFound, false, outcomeTruncated},
		"no answer":          {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 0, http.StatusBadGateway, true, outcomeUpstream},
		"left before it":     {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, time.Second, 0, false, outcomeCancelled},
		"left in its middle": {func(w http.ResponseWriter, r *http.Request) { half(w); <-r.Context().Done() }, time.Second, http.StatusOK, false, outcomeCancelled},
	} {
		for method, path := range map[string]string{http.MethodGet: "/anthropic/v1/models", http.MethodPost: anthropicPath + "/count_tokens"} {
			t.Run(name+", "+method, func(t *testing.T) {
				s := scripted(func(_ int, w http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body) // else net/http does not see a client leave
					tc.provider(w, r)
				})
				simulate(t, s, onePolicy(anthropicRoute(canonical...)), func(w *world) {
					ctx, leave := context.WithCancel(w.t.Context())
					defer leave()
					if tc.leave > 0 {
						time.AfterFunc(tc.leave, leave)
					}
					body := ""
					if method == http.MethodPost {
						body = message(10)
					}
					a := w.do(ctx, method, path, body, "X-Api-Key", canary.Key("1"))
					if a.status != tc.status || (a.err == nil) != tc.whole {
						t.Errorf("answer %d %q: %v", a.status, a.body, a.err)
					}
					w.atRest()
					w.endedAs(tc.outcome, 1)
					if n := s.count(); n != 1 {
						t.Errorf("%d sends", n)
					}
				})
			})
		}
	}
}

// TestFreeReadsWithoutABodyEndWell: a list that has not changed since it was read last is no failure, nor is one without a body.
func TestFreeReadsWithoutABodyEndWell(t *testing.T) {
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		for _, status := range []int{http.StatusOK, http.StatusNoContent, http.StatusNotModified} {
			t.Run(method+" "+http.StatusText(status), func(t *testing.T) {
				s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Etag", `"one"`)
					w.WriteHeader(status)
				})
				simulate(t, s, onePolicy(anthropicRoute(canonical...)), func(w *world) {
					a := w.do(w.t.Context(), method, "/anthropic/v1/models", "", "X-Api-Key", canary.Key("1"), "If-None-Match", `"one"`)
					if a.err != nil || a.status != status || a.body != "" || a.header.Get("Etag") != `"one"` {
						t.Errorf("answer %d %q %v: %v", a.status, a.body, a.header, a.err)
					}
					w.atRest()
					w.endedAs(outcomeSuccess, 1)
				})
			})
		}
	}
}

func half(w http.ResponseWriter) {
	_, _ = io.WriteString(w, `{"data":[`)
	_ = http.NewResponseController(w).Flush()
}
