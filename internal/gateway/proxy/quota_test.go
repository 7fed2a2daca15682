// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
)

const spent = `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`

func brotlied(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	w := brotli.NewWriter(&out)
	_, _ = io.WriteString(w, text)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestA7WhateverFormASpentQuotaComesInItMarksTheAccount: one call finds out, the next are answered without being sent,
// in a form that any caller reads.
func TestA7WhateverFormASpentQuotaComesInItMarksTheAccount(t *testing.T) {
	const chunk = `{"choices":[{"delta":{"content":"hi"}}]}`
	retold := "OpenAI's quota is spent (You exceeded your current quota). Not sent to OpenAI."
	cases := map[string]struct {
		answer func(w http.ResponseWriter)
		again  string
	}{
		"compressed": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Encoding", "br")
			fail(w, http.StatusTooManyRequests, brotlied(t, spent))
		}, spent},
		"longer than what is kept": {func(w http.ResponseWriter) {
			fail(w, http.StatusTooManyRequests, strings.Replace(spent, "null", `"`+strings.Repeat("x", maxMarkedBody)+`"`, 1))
		}, retold},
		"as the first event of a stream":  {func(w http.ResponseWriter) { event(w, "", spent) }, retold},
		"as a later event of a stream":    {func(w http.ResponseWriter) { event(w, "", chunk); event(w, "", spent) }, retold},
		"in a document with a status 200": {func(w http.ResponseWriter) { fail(w, http.StatusOK, spent) }, retold},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) { tc.answer(w) })
			simulate(t, s, onePolicy(openaiRoute()), func(w *world) {
				ask := func() answer {
					return w.post("/openai/v1/chat/completions", `{"model":"m","stream":true,"messages":[]}`, "Authorization", "Bearer sk-1")
				}
				ask()
				a := ask()
				if a.status != http.StatusTooManyRequests || !strings.Contains(a.body, tc.again) || s.count() != 1 {
					t.Errorf("answer %d %q after %d sends, want %q", a.status, a.body, s.count(), tc.again)
				}
				if h := a.header; h.Get("X-Should-Retry") != "false" || h.Get("Retry-After") != "60" || h.Get("Content-Encoding") != "" {
					t.Errorf("headers %v", h)
				}
				if s := w.figures("openai").state(time.Now()); s.name != stateQuota || s.code != "insufficient_quota" {
					t.Errorf("the state is %+v", s)
				}
				w.atRest()
			})
		})
	}
}

// TestA7WhoWasSentBeforeUnmarksNothing: a call that was under way when the quota was found to be spent is answered well. The
// next ones are not sent for that.
func TestA7WhoWasSentBeforeUnmarksNothing(t *testing.T) {
	s := scripted(func(n int, w http.ResponseWriter, _ *http.Request) {
		if n > 1 {
			fail(w, http.StatusTooManyRequests, spent)
			return
		}
		time.Sleep(20 * time.Second)
		answerOK(w)
	})
	simulate(t, s, onePolicy(openaiRoute()), func(w *world) {
		ask := func() answer {
			return w.post("/openai/v1/chat/completions", `{"model":"m","messages":[]}`, "Authorization", "Bearer sk-1")
		}
		var long sync.WaitGroup
		long.Go(func() {
			if a := ask(); a.status != http.StatusOK {
				t.Errorf("the long call: %d %s", a.status, a.body)
			}
		})
		time.Sleep(time.Second)
		for range 3 {
			if a := ask(); a.status != http.StatusTooManyRequests || s.count() != 2 {
				t.Errorf("answer %d after %d sends", a.status, s.count())
			}
			long.Wait()
		}
		if s := w.figures("openai").state(time.Now()); s.name != stateQuota {
			t.Errorf("the state is %+v", s)
		}
		w.atRest()
	})
}

// TestA7ASpentQuotaIsTheProvidersWhoseItIs: who points a route elsewhere, for the quota there is spent, is served at once.
func TestA7ASpentQuotaIsTheProvidersWhoseItIs(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, r *http.Request) {
		if r.Host == "other.example" {
			answerOK(w)
			return
		}
		w.Header().Set("Retry-After", "7200")
		fail(w, http.StatusTooManyRequests, spent)
	})
	route := openaiRoute()
	simulate(t, s, onePolicy(route), func(w *world) {
		ask := func() answer {
			return w.post("/openai/v1/chat/completions", `{"model":"m","messages":[]}`, "Authorization", "Bearer sk-1")
		}
		ask()
		if a := ask(); a.status != http.StatusTooManyRequests || s.count() != 1 {
			t.Fatalf("answer %d after %d sends", a.status, s.count())
		}
		route.BaseURL = "http://other.example"
		w.gateway.Apply(onePolicy(route), time.Now())
		if a := ask(); a.status != http.StatusOK || s.count() != 2 {
			t.Errorf("answer %d %s after %d sends", a.status, a.body, s.count())
		}
		if s := w.figures("openai").state(time.Now()); s.name != stateHealthy {
			t.Errorf("the state is %+v", s)
		}
		w.atRest()
	})
}
