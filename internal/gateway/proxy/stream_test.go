// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/testing/canary"
)

// open starts a streamed call and returns its response.
func (w *world) open(ctx context.Context, path, body string) *http.Response {
	w.t.Helper()
	return w.request(ctx, http.MethodPost, path, body)
}

// request starts a call and returns its response.
func (w *world) request(ctx context.Context, method, path, body string) *http.Response {
	w.t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, "http://gateway"+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Api-Key", canary.Key("1"))
	resp, err := w.client.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp
}

// Fault B1: Events of a stream reached the client in lumps or at its end, for a buffer, a content type or a
// Content-Length.
// Headgate: Every piece is flushed as it comes, for every kind of stream and for slow plain bodies, with metering on.
func TestB1EventsPassAtOnce(t *testing.T) {
	kinds := map[string]struct{ kind, length string }{
		"events":       {"text/event-stream; charset=utf-8", ""},
		"lines":        {"application/x-ndjson", ""},
		"chunked json": {"application/json", ""},
		"aws events":   {"application/vnd.amazon.eventstream", ""},
		"known length": {"application/json", fmt.Sprint(5 * 37)},
	}
	for name, tc := range kinds {
		t.Run(name, func(t *testing.T) {
			s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", tc.kind)
				if tc.length != "" {
					w.Header().Set("Content-Length", tc.length)
				}
				for i := range 5 {
					_, _ = fmt.Fprintf(w, "data: {\"type\":\"ping\",\"n\":%d,\"fill\":1}\n", i)
					_ = http.NewResponseController(w).Flush()
					time.Sleep(500 * time.Millisecond)
				}
			})
			simulate(t, s, onePolicy(anthropicRoute(canonical...)), func(w *world) {
				resp := w.open(w.t.Context(), anthropicPath, streamed(10))
				lines := bufio.NewReader(resp.Body)
				for i := range 5 {
					if _, err := lines.ReadString('\n'); err != nil {
						t.Fatal(err)
					}
					// The first may be held for peekTime, for an overload inside the stream.
					want := time.Duration(i) * 500 * time.Millisecond
					late := time.Since(w.start) - want
					if limit := 50 * time.Millisecond; late > limit && (i > 0 || late > peekTime+limit) {
						t.Errorf("line %d is %s late", i, late)
					}
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
				time.Sleep(time.Second)
			})
		})
	}
}

// Fault A11: A provider said overloaded inside a 200 stream, and clients took the empty stream for an answer.
// Headgate: A stream's opening is held, for a bounded time and size, until content comes: an error before it is retried
// unseen and counted as overload; one after it is forwarded as it is, and nothing is sent twice.
func TestA11OverloadInsideAStreamBeforeContentIsRetriedInvisibly(t *testing.T) {
	s := scripted(func(n int, w http.ResponseWriter, _ *http.Request) {
		event(w, "message_start", messageStart)
		event(w, "ping", `{"type":"ping"}`)
		if n == 1 {
			event(w, "error", overloaded)
			return
		}
		event(w, "content_block_delta", delta("hi"))
		finish(w, 20)
	})
	simulate(t, s, onePolicy(anthropicRoute(canonical...)), func(w *world) {
		a := w.post(anthropicPath, streamed(10), "x-api-key", canary.Key("1"))
		if a.status != http.StatusOK || strings.Contains(a.body, "overloaded") || strings.Count(a.body, "message_start\n") != 1 {
			t.Errorf("answer %d %s", a.status, a.body)
		}
		if n := w.figures("anthropic").tally.Overloads.Load(); n != 1 || s.count() != 2 {
			t.Errorf("%d overloads, %d sends", n, s.count())
		}
		w.atRest()
	})
}

func TestA11TheWaitThatAnErrorInsideAStreamStatesIsKept(t *testing.T) {
	const refused = `{"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded",` +
		`"message":"Rate limit reached for m (TPM): Limit 100, Used 99, Requested 9. Please try again in 9.5s."}}}`
	s := scripted(func(n int, w http.ResponseWriter, _ *http.Request) {
		// What the headers say was true before the error was.
		w.Header().Set("X-Ratelimit-Remaining-Tokens", "90")
		w.Header().Set("X-Ratelimit-Reset-Tokens", "26ms")
		event(w, "response.created", `{"type":"response.created","response":{}}`)
		if n == 1 {
			event(w, "response.failed", refused)
			return
		}
		event(w, "response.output_text.delta", `{"type":"response.output_text.delta","delta":"hi"}`)
		event(w, "response.completed", `{"type":"response.completed","response":{"usage":{"input_tokens":3,"output_tokens":1}}}`)
	})
	simulate(t, s, onePolicy(openaiRoute(canonical...)), func(w *world) {
		a := w.post("/openai/v1/responses", `{"model":"m","stream":true,"input":"hi"}`, "authorization", "Bearer sk-1")
		if a.status != http.StatusOK || strings.Contains(a.body, "rate_limit") || s.count() != 2 {
			t.Errorf("answer %d %s after %d sends", a.status, a.body, s.count())
		}
		if took := time.Since(w.start); took < 9500*time.Millisecond || took > 15*time.Second {
			t.Errorf("sent again by %s, want 9.5s and the jitter", took)
		}
		w.atRest()
	})
}

func TestA11ErrorAfterContentIsForwardedAndNotRepeated(t *testing.T) {
	for name, together := range map[string]bool{"apart": false, "in one segment": true} {
		t.Run(name, func(t *testing.T) {
			s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) {
				event(w, "message_start", messageStart)
				if together {
					w.Header().Set("Content-Type", "text/event-stream")
					_, _ = io.WriteString(w, "event: content_block_delta\ndata: "+delta("hi")+"\n\nevent: error\ndata: "+overloaded+"\n\n")
					return
				}
				event(w, "content_block_delta", delta("hi"))
				event(w, "error", overloaded)
			})
			simulate(t, s, onePolicy(anthropicRoute(canonical...)), func(w *world) {
				a := w.post(anthropicPath, streamed(10), "x-api-key", canary.Key("1"))
				if a.err != nil || !strings.HasSuffix(a.body, "event: error\ndata: "+overloaded+"\n\n") || s.count() != 1 {
					t.Errorf("answer %q %v after %d sends", a.body, a.err, s.count())
				}
				w.endedAs(outcomeFailed, 1)
				w.atRest()
			})
		})
	}
}

func TestA11PeekHoldsNoLongerThanItsBound(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) {
		event(w, "message_start", messageStart)
		time.Sleep(10 * time.Second)
		event(w, "content_block_delta", delta("hi"))
		finish(w, 20)
	})
	simulate(t, s, onePolicy(anthropicRoute(canonical...)), func(w *world) {
		resp := w.open(w.t.Context(), anthropicPath, streamed(10))
		if took := time.Since(w.start); took > peekTime+50*time.Millisecond {
			t.Errorf("the headers came after %s", took)
		}
		b, err := io.ReadAll(resp.Body)
		if err != nil || !strings.Contains(string(b), "message_stop") {
			t.Errorf("%q %v", b, err)
		}
		_ = resp.Body.Close()
		w.atRest()
	})
}

// TestA11HeadersOfASilentStreamAreNotHeldForLong: a server that answers before it begins to work, whose overload is still
// found if it comes soon.
func TestA11HeadersOfASilentStreamAreNotHeldForLong(t *testing.T) {
	for name, silence := range map[string]time.Duration{"soon": silentTime / 2, "late": time.Minute} {
		t.Run(name, func(t *testing.T) {
			s := scripted(func(n int, w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				_ = http.NewResponseController(w).Flush()
				time.Sleep(silence)
				if n == 1 && name == "soon" {
					event(w, "error", overloaded)
					return
				}
				event(w, "content_block_delta", delta("hi"))
				finish(w, 20)
			})
			simulate(t, s, onePolicy(anthropicRoute(canonical...)), func(w *world) {
				resp := w.open(w.t.Context(), anthropicPath, streamed(10))
				took := time.Since(w.start)
				body, err := io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				if err != nil || !strings.HasPrefix(string(body), "event: content_block_delta") {
					t.Errorf("%q %v", body, err)
				}
				if name == "late" && (took > silentTime || s.count() != 1) || name == "soon" && s.count() != 2 {
					t.Errorf("headers after %s, %d sends", took, s.count())
				}
				w.atRest()
			})
		})
	}
}

const chunkUsage = `{"id":"c","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":200,"total_tokens":210}}`

func chat(w http.ResponseWriter, usage bool) {
	event(w, "", `{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`)
	event(w, "", `{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":null}]}`)
	event(w, "", `{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`)
	if usage {
		event(w, "", chunkUsage)
	}
	event(w, "", "[DONE]")
}

// Fault B6: The usage chunk that a gateway had asked for broke clients that expected a choice in every chunk.
// Headgate: The chunk is taken out again unless the client asked for it, every other byte is equal, lengths are right,
// and signed requests are never changed.
func TestB5AndB6UsageIsAskedForAndTakenOutAgain(t *testing.T) {
	s := scripted(func(n int, w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if int64(len(body)) != r.ContentLength {
			t.Errorf("Content-Length %d, body %d", r.ContentLength, len(body))
		}
		chat(w, strings.Contains(string(body), "include_usage"))
	})
	simulate(t, s, onePolicy(openaiRoute(perMinute("tokens", "Tokens", 100_000))), func(w *world) {
		plain := w.post("/openai/v1/chat/completions", `{"model":"gpt-4o","stream":true,"messages":[{"role":"user","content":"hello"}]}`)
		if strings.Contains(plain.body, `"choices":[]`) || !strings.HasSuffix(plain.body, "data: [DONE]\n\n") || strings.Count(plain.body, "data: ") != 4 {
			t.Errorf("the client sees %q", plain.body)
		}
		if !strings.Contains(s.bodies[0], "include_usage") {
			t.Errorf("usage was not asked for: %s", s.bodies[0])
		}
		tokens := w.figures("openai").tally.TokensByModel()["gpt-4o"]
		if tokens.Input != 10 || tokens.Output != 200 {
			t.Errorf("counted %+v", tokens)
		}
		asked := w.post("/openai/v1/chat/completions", `{"model":"gpt-4o","stream":true,"stream_options":{"include_usage":true},"messages":[]}`)
		if !strings.Contains(asked.body, chunkUsage) {
			t.Errorf("a client that asked sees %q", asked.body)
		}
		w.atRest()
	})
}

func TestB5HostThatRejectsStreamOptionsIsAskedOnceMoreWithout(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "stream_options") {
			fail(w, http.StatusBadRequest, `{"error":{"message":"Unrecognized request argument supplied: stream_options","type":"invalid_request_error"}}`)
			return
		}
		chat(w, false)
	})
	simulate(t, s, onePolicy(openaiRoute(perMinute("tokens", "Tokens", 100_000))), func(w *world) {
		for want := range 2 {
			a := w.post("/openai/v1/chat/completions", `{"model":"gpt-4o","stream":true,"messages":[{"role":"user","content":"hello"}]}`)
			if a.status != http.StatusOK || s.count() != 2+want {
				t.Errorf("answer %d %s after %d sends", a.status, a.body, s.count())
			}
		}
		if level := w.figures("openai").level("tokens"); level >= 100_000 {
			t.Errorf("without usage nothing was charged: level %v", level)
		}
		w.atRest()
	})
}

// Fault B8: A call that was broken off was refunded in full, though the provider bills what it had read and made.
// Headgate: It is settled at the larger of what was seen and what was reserved, never at nothing, and counted as
// settled by estimate.
func TestB7AndB8DisconnectStopsTheProviderAndKeepsTheBill(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, r *http.Request) {
		event(w, "message_start", messageStart)
		for range 1400 {
			event(w, "content_block_delta", delta(strings.Repeat("word ", 4)))
			select {
			case <-time.After(10 * time.Millisecond):
			case <-r.Context().Done():
				return
			}
		}
		finish(w, 1400)
	})
	limits := slices.Concat(canonical[:2], []plan.Limit{perMinute("output-tokens", "OutputTokens", 80_000)})
	simulate(t, s, onePolicy(anthropicRoute(limits...)), func(w *world) {
		ctx, cancel := context.WithCancel(context.Background())
		resp := w.open(ctx, anthropicPath, strings.Replace(streamed(1000), "400", "4000", 1))
		lines := bufio.NewScanner(resp.Body)
		for n := 0; n < 200 && lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "data: ") {
				n++
			}
		}
		cancel()
		_ = resp.Body.Close()
		time.Sleep(time.Second)
		synctest.Wait()
		if s.left() != 1 {
			t.Error("the provider was not told within a second")
		}
		f := w.figures("anthropic")
		if input, output := f.spent("input-tokens"), f.spent("output-tokens"); input < 1000 || output < 200 {
			t.Errorf("%v input and %v output tokens are charged", input, output)
		}
		if f.tally.EstimatedSettlements.Load() != 1 {
			t.Error("the settlement is not counted as an estimate")
		}
		w.endedAs(outcomeCancelled, 1)
		w.atRest()
	})
}

// Fault B9: A stream that ended without its end was passed on as a success.
// Headgate: Each API's own end is known; a stream that stops before it is broken off towards the client too, and
// counted as truncated.
func TestB9TruncatedStreamIsNotASuccess(t *testing.T) {
	for name, end := range map[string]func(){"closed": func() {}, "reset": func() { panic(http.ErrAbortHandler) }} {
		t.Run(name, func(t *testing.T) {
			s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) {
				event(w, "message_start", messageStart)
				for range 5 {
					event(w, "content_block_delta", delta("hi"))
				}
				end()
			})
			simulate(t, s, onePolicy(anthropicRoute(canonical...)), func(w *world) {
				a := w.post(anthropicPath, streamed(10), "x-api-key", canary.Key("1"))
				if a.err == nil {
					t.Errorf("the client cannot tell: %q", a.body)
				}
				if n := w.figures("anthropic").tally.TruncatedStreams.Load(); n != 1 || s.count() != 1 {
					t.Errorf("%d truncated streams, %d sends", n, s.count())
				}
				w.endedAs(outcomeTruncated, 1)
				w.atRest()
			})
		})
	}
}

// Fault B10: Timeouts made for short answers killed healthy long streams, while clients that read nothing held their
// connection for ever.
// Headgate: A stream may last and pause as long as its provider likes; a client that takes nothing, sends nothing, or
// drips its headers is cut.
func TestB10QuietStreamIsNotCutAndStalledClientIs(t *testing.T) {
	quiet := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) {
		event(w, "message_start", messageStart)
		for i := range 180 {
			event(w, "content_block_delta", delta("hi"))
			time.Sleep(10 * time.Second)
			if i == 90 {
				time.Sleep(4 * time.Minute)
			}
		}
		finish(w, 60)
	})
	simulate(t, quiet, onePolicy(anthropicRoute(canonical...)), func(w *world) {
		a := w.post(anthropicPath, streamed(10), "x-api-key", canary.Key("1"))
		if a.err != nil || !strings.Contains(a.body, "message_stop") || a.took < 34*time.Minute {
			t.Errorf("after %s: %v", a.took, a.err)
		}
		w.atRest()
	})
	fast := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) {
		event(w, "message_start", messageStart)
		for range 10_000 {
			event(w, "content_block_delta", delta(strings.Repeat("x", 1000)))
		}
		finish(w, 1)
	})
	simulate(t, fast, onePolicy(anthropicRoute(canonical...)), func(w *world) {
		resp := w.open(w.t.Context(), anthropicPath, streamed(10))
		time.Sleep(2 * stallTime)
		synctest.Wait()
		if n, _ := w.gateway.Busy(); n != 0 {
			t.Error("a client that takes nothing still holds its call")
		}
		_ = resp.Body.Close()
		w.endedAs(outcomeCancelled, 1)
		w.atRest()
	})
}
