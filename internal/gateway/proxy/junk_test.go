// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/testing/bubble"
	"github.com/headgate-dev/headgate/internal/testing/canary"
)

// rawly answers every call of a connection with bytes as they are.
func rawly(answer string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = io.WriteString(conn, answer)
		time.Sleep(time.Minute)
		_ = conn.Close()
	})
}

func TestAnswersThatAreNoneBecomeBadGateway(t *testing.T) {
	for name, answer := range map[string]string{
		"switches protocol":    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nraw",
		"below 100":            "HTTP/1.1 099 Early\r\nContent-Length: 2\r\n\r\nhi",
		"no HTTP":              "\x00\x01garbage\r\n\r\n",
		"control characters":   "HTTP/1.1 200 OK\r\nX: a\x00b\r\nContent-Length: 2\r\n\r\nhi",
		"two lengths":          "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nhi!",
		"endless early hints":  strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", 20_000),
		"a megabyte of header": "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<20) + "\r\n\r\n",
	} {
		for _, body := range []string{message(10), streamed(10)} {
			t.Run(name, func(t *testing.T) {
				simulate(t, rawly(answer), onePolicy(anthropicRoute(canonical...)), func(w *world) {
					a := w.post(anthropicPath, body, "x-api-key", canary.Key("1"))
					if a.status != http.StatusBadGateway || a.header.Get("X-Should-Retry") != "false" || a.took > time.Second {
						t.Errorf("answer %d %v after %s", a.status, a.err, a.took)
					}
					if strings.Contains(a.body, canary.Key("1")) || len(a.body) > 1024 {
						t.Errorf("body %s", a.body)
					}
					time.Sleep(2 * time.Minute)
					w.atRest()
				})
			})
		}
	}
}

// TestErrorWhoseBodyDoesNotComeIsStillAnError: with its status, its headers and what came of the body.
func TestErrorWhoseBodyDoesNotComeIsStillAnError(t *testing.T) {
	for name, do := range map[string]func(http.ResponseWriter, *http.Request){
		"hangs":  func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"breaks": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			s := scripted(func(_ int, w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Length", "1000")
				w.Header().Set("Retry-After", "500")
				w.WriteHeader(http.StatusTooManyRequests)
				_, _ = io.WriteString(w, "begun")
				_ = http.NewResponseController(w).Flush()
				do(w, r)
			})
			simulate(t, s, onePolicy(anthropicRoute(canonical...)), func(w *world) {
				a := w.ask(10)
				if a.status != http.StatusTooManyRequests || a.err != nil || a.body != "begun" || a.header.Get("Retry-After") != "500" {
					t.Errorf("answer %d %q %v %v", a.status, a.body, a.header, a.err)
				}
				if a.took > failureTime+100*time.Millisecond {
					t.Errorf("it took %s", a.took)
				}
				w.atRest()
			})
		})
	}
}

// TestJunkNeverShutsAnAccountForGood: whatever a provider says of waits and levels, it is asked again.
func TestJunkNeverShutsAnAccountForGood(t *testing.T) {
	const huge = "99999999999999999999"
	junk := map[string][]string{
		"retry after":            {"Retry-After", huge},
		"retry after ms":         {"Retry-After-Ms", huge},
		"date":                   {"Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT"},
		"reset":                  {"X-Ratelimit-Limit-Requests", "100", "X-Ratelimit-Remaining-Requests", "0", "X-Ratelimit-Reset-Requests", huge},
		"draft reset":            {"Ratelimit", `"a";r=0;t=999999999999999`, "Ratelimit-Policy", `"a";q=100`},
		"draft window":           {"Ratelimit", `"a";r=0;t=1`, "Ratelimit-Policy", `"a";q=100;w=999999999999999`},
		"huge limit":             {"X-Ratelimit-Limit-Tokens", huge, "X-Ratelimit-Remaining-Tokens", "0"},
		"negative":               {"X-Ratelimit-Limit-Tokens", "-5", "X-Ratelimit-Remaining-Tokens", "-1e999", "Retry-After", "-1"},
		"anthropic's resets":     {"Anthropic-Ratelimit-Requests-Limit", "1", "Anthropic-Ratelimit-Requests-Remaining", "0", "Anthropic-Ratelimit-Requests-Reset", "9999-12-31T23:59:59Z"},
		"a limit below a call":   {"X-Ratelimit-Limit-Requests", "0.5", "X-Ratelimit-Remaining-Requests", "0", "X-Ratelimit-Reset-Requests", "1s"},
		"a limit of a token":     {"X-Ratelimit-Limit-Tokens", "1", "X-Ratelimit-Remaining-Tokens", "0", "X-Ratelimit-Reset-Tokens", "1s"},
		"anthropic's of a token": {"Anthropic-Ratelimit-Input-Tokens-Limit", "1", "Anthropic-Ratelimit-Input-Tokens-Remaining", "0", "Anthropic-Ratelimit-Input-Tokens-Reset", "2000-01-01T00:00:05Z"},
		"a call a month":         {"Ratelimit", `"a";r=0;t=2592000`, "Ratelimit-Policy", `"a";q=1;w=2592000`},
		"not even a character":   {"Retry-After", "\x80", "X-Ratelimit-Reset-Tokens", "0x1p4"},
	}
	for name, headers := range junk {
		for _, status := range []int{http.StatusOK, http.StatusTooManyRequests} {
			for _, d := range []string{"OpenAI", "Anthropic", "Generic"} {
				t.Run(fmt.Sprint(name, status, d), func(t *testing.T) {
					s := scripted(func(n int, w http.ResponseWriter, _ *http.Request) {
						if n == 1 {
							fail(w, status, "{}", headers...)
							return
						}
						fail(w, http.StatusOK, "{}")
					})
					route := anthropicRoute(perMinute("requests", plan.Requests, 1000))
					route.Dialect = d
					simulate(t, s, onePolicy(route), func(w *world) {
						w.ask(10, HeaderDeadline, "0s")
						before := s.count()
						time.Sleep(time.Hour + time.Minute)
						if a := w.ask(10); a.status != http.StatusOK || s.count() != before+1 {
							t.Errorf("an hour later: answer %d %s after %d sends", a.status, a.body, s.count()-before)
						}
						w.atRest()
					})
				})
			}
		}
	}
}

func TestA7DocumentedResetIsProbedEachHour(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) {
		fail(w, http.StatusTooManyRequests, `{"error":{"message":"x","type":"insufficient_quota","code":"insufficient_quota"}}`, "Retry-After", "864000")
	})
	simulate(t, s, onePolicy(openaiRoute()), func(w *world) {
		for i := range 5 {
			for range 3 {
				a := w.post("/openai/v1/chat/completions", `{"model":"m","messages":[]}`)
				if after := a.header.Get("Retry-After"); a.status != http.StatusTooManyRequests || len(after) != 6 {
					t.Errorf("answer %d, Retry-After %s", a.status, after)
				}
			}
			if s.count() != i+1 {
				t.Errorf("%d sends in %d hours", s.count(), i)
			}
			time.Sleep(probeAtLast)
		}
		w.atRest()
	})
}

func TestContentTypeIsNotGuessed(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = nil
		_, _ = io.WriteString(w, "<html>")
	})
	simulate(t, s, onePolicy(anthropicRoute()), func(w *world) {
		if a := w.ask(10); a.header["Content-Type"] != nil {
			t.Errorf("the client is told %v", a.header)
		}
	})
}

// TestB7DisconnectsInEveryPhaseLeaveNothing: in bulk, and at every moment of a stream.
//
// Fault B7: When a client hung up, the provider went on generating, and the call went on counting as in flight.
// Headgate: The provider sees the connection close within a second in every phase, a queued call is never sent, and
// nothing is in flight afterwards.
func TestB7DisconnectsInEveryPhaseLeaveNothing(t *testing.T) {
	s := scripted(func(n int, w http.ResponseWriter, r *http.Request) {
		if n%2 == 0 {
			<-r.Context().Done()
			return
		}
		event(w, "message_start", messageStart)
		for range 20 {
			event(w, "content_block_delta", delta("hi"))
			time.Sleep(10 * time.Millisecond)
		}
		finish(w, 20)
	})
	limits := append([]plan.Limit{perMinute("input-tokens", plan.InputTokens, 60_000)}, inFlight)
	limits[1].Amount, limits[1].Burst = 20, 20
	simulate(t, s, onePolicy(anthropicRoute(limits...)), func(w *world) {
		done := make(chan struct{})
		const calls = 400
		for i := range calls {
			go func() {
				w.exit(true, time.Duration(i)*time.Millisecond+1)
				done <- struct{}{}
			}()
		}
		for range calls {
			<-done
		}
		synctest.Wait()
		w.atRest()
		time.Sleep(5 * time.Minute)
		if level := w.figures("anthropic").level("in-flight"); level != 20 {
			t.Errorf("%v of 20 slots are left", level)
		}
		if level := w.figures("anthropic").level("input-tokens"); level != 60_000 {
			t.Errorf("%v of 60,000 tokens are left", level)
		}
	})
}

// TestB9ResetOfAnHTTP2StreamIsATruncation: and before its headers an answer that never came.
func TestB9ResetOfAnHTTP2StreamIsATruncation(t *testing.T) {
	s := scripted(func(n int, w http.ResponseWriter, _ *http.Request) {
		if n > 1 {
			event(w, "message_start", messageStart)
			event(w, "content_block_delta", delta("hi"))
		}
		panic(http.ErrAbortHandler)
	})
	bubble.Run(t, func(t *testing.T) {
		w := newWorld(t, http.NotFoundHandler(), onePolicy(anthropicRoute(canonical...)))
		defer w.close()
		h2 := newPipes()
		var only http.Protocols
		only.SetUnencryptedHTTP2(true)
		srv := &http.Server{Handler: s, Protocols: &only}
		go func() { _ = srv.Serve(h2) }()
		defer func() { _ = srv.Close() }()
		transport := &http.Transport{Protocols: &only, DialContext: h2.dial}
		defer transport.CloseIdleConnections()
		w.gateway.SetTransport(transport)
		if a := w.ask(10); a.status != http.StatusBadGateway {
			t.Errorf("answer %d", a.status)
		}
		a := w.post(anthropicPath, streamed(10), "x-api-key", canary.Key("1"))
		if a.status != http.StatusOK || a.err == nil {
			t.Errorf("a stream that was reset looks whole: %d %s", a.status, a.body)
		}
		if s.count() != 2 {
			t.Errorf("%d sends", s.count())
		}
		w.endedAs(outcomeTruncated, 1)
		w.atRest()
	})
}

// TestB5RejectedUsageIsAskedForOnceWhereNoHostCanBeRemembered: the memory of hosts is bounded, and a full one
// must not make a call go round.
func TestB5RejectedUsageIsAskedForOnceWhereNoHostCanBeRemembered(t *testing.T) {
	s := scripted(func(n int, w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "stream_options") && n < 10 {
			fail(w, http.StatusBadRequest, `{"error":{"message":"Unknown parameter: stream_options","type":"invalid_request_error"}}`)
			return
		}
		event(w, "", `{"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}`)
		event(w, "", "[DONE]")
	})
	simulate(t, s, onePolicy(openaiRoute()), func(w *world) {
		for i := range maxHosts {
			w.gateway.rejectsUsage.add(fmt.Sprint("host-", i))
		}
		for i := range 2 {
			a := w.post("/openai/v1/chat/completions", `{"model":"m","stream":true,"messages":[]}`)
			if a.status != http.StatusOK || s.count() != 2*(i+1) {
				t.Errorf("answer %d after %d sends", a.status, s.count())
			}
		}
		w.atRest()
	})
}
