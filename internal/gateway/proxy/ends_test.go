// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/gateway/dialect/reply"
)

// TestB9AnswersThatStopEarlyAreTold in the forms in which nothing but their content says so.
func TestB9AnswersThatStopEarlyAreTold(t *testing.T) {
	const twoChoices = `{"model":"m","n":2,"stream":true,"messages":[]}`
	piece := func(choice int, reason string) string {
		return fmt.Sprintf("data: {\"choices\":[{\"index\":%d,\"delta\":{\"content\":\"a\"},\"finish_reason\":%s}]}\n\n", choice, reason)
	}
	begun := piece(0, "null") + piece(1, "null") + piece(0, `"stop"`)
	line := `{"message":{"content":"a"},"done":false}` + "\n"
	whole := line + `{"message":{"content":""},"done":true}` + "\n"
	for name, tc := range map[string]struct {
		route, dialect, path, body string
		kind, answer               string
		unframed, cut              bool
		// sized answers state a length, and all of it comes.
		sized bool
	}{
		"one of two choices":   {"openai", "OpenAI", "/v1/chat/completions", twoChoices, "text/event-stream", begun, false, true, false},
		"both choices":         {"openai", "OpenAI", "/v1/chat/completions", twoChoices, "text/event-stream", begun + piece(1, `"stop"`), false, false, false},
		"JSON lines":           {"vllm", "SelfHosted", "/api/chat", `{"model":"m"}`, "application/jsonl", line, false, true, false},
		"all JSON lines":       {"vllm", "SelfHosted", "/api/chat", `{"model":"m"}`, "application/jsonl", whole, false, false, false},
		"a document":           {"anthropic", "Anthropic", "/v1/messages", message(1), "application/json", okMessage[:len(okMessage)-9], true, true, false},
		"all of a document":    {"anthropic", "Anthropic", "/v1/messages", message(1), "application/json; charset=utf-8", okMessage, true, false, false},
		"a stream of HTTP/1.0": {"anthropic", "Anthropic", "/v1/messages", streamed(1), "text/event-stream", "event: ping\ndata: {}\n\ndata: " + delta("a") + "\n\n", true, true, false},
		"choices of a length":  {"openai", "OpenAI", "/v1/chat/completions", twoChoices, "text/event-stream", begun, false, true, true},
		"lines of a length":    {"vllm", "SelfHosted", "/api/chat", `{"model":"m"}`, "application/x-ndjson", line, false, true, true},
		"long, of a length":    {"vllm", "SelfHosted", "/api/chat", `{"model":"m"}`, "application/x-ndjson", strings.Repeat(line, 2*streamBuffer/len(line)), false, true, true},
		"all of a length":      {"vllm", "SelfHosted", "/api/chat", `{"model":"m"}`, "application/x-ndjson", whole[:len(whole)-1], false, false, true},
		"a bare value":         {"openai", "OpenAI", "/v1/chat/completions", `{"model":"m"}`, "application/json", "null", true, false, false},
		"a bare text":          {"openai", "OpenAI", "/v1/chat/completions", `{"model":"m"}`, "application/json", ` "hello"`, true, false, false},
		"nothing":              {"openai", "OpenAI", "/v1/chat/completions", `{"model":"m"}`, "application/json", "", true, false, false},
		"half an array":        {"openai", "OpenAI", "/v1/chat/completions", `{"model":"m"}`, "application/json", "\ufeff\n [1", true, true, false},
		"no JSON at all":       {"openai", "OpenAI", "/v1/chat/completions", `{"model":"m"}`, "text/plain", "half a", true, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			provider := http.Handler(scripted(func(_ int, w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", tc.kind)
				if tc.sized {
					w.Header().Set("Content-Length", strconv.Itoa(len(tc.answer)))
				}
				_, _ = io.WriteString(w, tc.answer)
				if !tc.sized {
					_ = http.NewResponseController(w).Flush()
				}
			}))
			if tc.unframed {
				provider = rawlyClosed("HTTP/1.0 200 OK\r\nContent-Type: " + tc.kind + "\r\n\r\n" + tc.answer)
			}
			simulate(t, provider, onePolicy(routeTo(tc.route, tc.dialect)), func(w *world) {
				a := w.post("/"+tc.route+tc.path, tc.body)
				outcome, truncated := outcomeSuccess, uint64(0)
				if tc.cut {
					outcome, truncated = outcomeTruncated, 1
				}
				switch {
				case tc.sized && tc.cut && len(tc.answer) > streamBuffer:
					if rest, begins := strings.CutPrefix(tc.answer, a.body); a.err == nil || !begins || rest == "" || a.body == "" {
						t.Errorf("answer %d of %d bytes, %v", a.status, len(a.body), a.err)
					}
				case tc.sized && tc.cut: // nothing has been passed on, so that it can still be said
					if a.status != http.StatusBadGateway || a.header.Get(HeaderReason) != reasonUpstream {
						t.Errorf("answer %d %q", a.status, a.body)
					}
				case a.status != http.StatusOK || a.body != tc.answer || (a.err != nil) != tc.cut:
					t.Errorf("answer %d %q %v", a.status, a.body, a.err)
				}
				w.atRest()
				w.endedAsOf(tc.route, outcome, 1)
				if n := w.figures(tc.route).tally.TruncatedStreams.Load(); n != truncated {
					t.Errorf("%d are counted as truncated", n)
				}
			})
		})
	}
}

// rawlyClosed answers with bytes as they are and ends the connection.
func rawlyClosed(answer string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = io.WriteString(conn, answer)
		_ = conn.Close()
	})
}

// TestA11AnErrorEventNeedNotBeClosed: a stream that ends with an overload before any content is retried also where the
// blank line behind it does not come, and in the forms that proxies give it; where it is not retried, the client gets it.
func TestA11AnErrorEventNeedNotBeClosed(t *testing.T) {
	start := "event: message_start\ndata: " + messageStart + "\n\n"
	chatError := `{"error":{"code":"server_is_overloaded","message":"busy"}}`
	for name, tc := range map[string]struct{ path, body, text string }{
		"no blank line":           {anthropicPath, streamed(10), start + "event: error\ndata: " + overloaded + "\n"},
		"no end of its line":      {anthropicPath, streamed(10), start + "event: error\ndata: " + overloaded},
		"CRLF":                    {anthropicPath, streamed(10), start + "event: error\r\ndata: " + overloaded + "\r\n"},
		"chat":                    {"/openai/v1/chat/completions", `{"model":"m","stream":true,"messages":[]}`, "data: " + chatError},
		"chat, of two choices":    {"/openai/v1/chat/completions", `{"model":"m","n":2,"stream":true,"messages":[]}`, "data: " + chatError + "\n\n"},
		"chat, by its name alone": {"/openai/v1/chat/completions", `{"model":"m","stream":true,"messages":[]}`, "event: error\ndata: {\"code\":\"server_is_overloaded\",\"message\":\"busy\"}\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, always := range []bool{false, true} {
				s := scripted(func(n int, w http.ResponseWriter, _ *http.Request) {
					switch {
					case n == 1 || always:
						w.Header().Set("Content-Type", "text/event-stream")
						for i := range tc.text {
							_, _ = io.WriteString(w, tc.text[i:i+1])
							_ = http.NewResponseController(w).Flush()
						}
					case tc.path == anthropicPath:
						event(w, "content_block_delta", delta("hi"))
						finish(w, 20)
					default:
						chat(w, false)
					}
				})
				simulate(t, s, onePolicy(anthropicRoute(), openaiRoute()), func(w *world) {
					a := w.post(tc.path, tc.body)
					sends := 2
					if always {
						sends = 4 // what the policy allows for overloads
					}
					if a.status != http.StatusOK || a.err != nil || s.count() != sends || (a.body == tc.text) != always {
						t.Errorf("answer %d %q %v after %d sends", a.status, a.body, a.err, s.count())
					}
					if reason := a.header.Get(reply.HeaderShouldRetry); always != (reason == "false") {
						t.Errorf("x-should-retry is %q", reason)
					}
					w.atRest()
				})
			}
		})
	}
}

// TestA17WhatAProviderSaysBehindItsBodyPasses: trailers, of an answer and of a refusal; where a chunk was taken out of
// the body, they may speak of another one, and stay.
func TestA17WhatAProviderSaysBehindItsBodyPasses(t *testing.T) {
	for name, tc := range map[string]struct {
		path, body string
		status     int
		passes     bool
	}{
		"a stream":        {anthropicPath, streamed(10), http.StatusOK, true},
		"a document":      {anthropicPath, message(10), http.StatusOK, true},
		"a refusal":       {anthropicPath, message(10), http.StatusBadRequest, true},
		"a free call":     {"/anthropic/v1/models", "", http.StatusOK, true},
		"a changed body":  {"/openai/v1/chat/completions", `{"model":"m","stream":true,"messages":[]}`, http.StatusOK, false},
		"asked for usage": {"/openai/v1/chat/completions", `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[]}`, http.StatusOK, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Trailer", "X-Sum")
				if tc.status != http.StatusOK {
					w.WriteHeader(tc.status)
				}
				switch body := tc.body; {
				case strings.Contains(body, "stream") && tc.path == anthropicPath:
					event(w, "content_block_delta", delta("hi"))
					finish(w, 3)
				case strings.Contains(body, "stream"):
					chat(w, true)
				default:
					_, _ = io.WriteString(w, okMessage)
				}
				w.Header().Set("X-Sum", "1")
				w.Header().Set(http.TrailerPrefix+"X-Unannounced", "2")
			})
			simulate(t, s, onePolicy(anthropicRoute(), openaiRoute()), func(w *world) {
				method := http.MethodPost
				if tc.body == "" {
					method = http.MethodGet
				}
				resp := w.request(w.t.Context(), method, tc.path, tc.body)
				_, err := io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
				if got := resp.Trailer.Get("X-Sum") + resp.Trailer.Get("X-Unannounced"); err != nil || resp.StatusCode != tc.status || (got == "12") != tc.passes {
					t.Errorf("answer %d, trailers %v, %v", resp.StatusCode, resp.Trailer, err)
				}
				w.atRest()
			})
		})
	}
}

// TestA11AnErrorThatIsADocumentIsRetriedToo: with the status of a success, in place of an answer that was not asked for as
// a stream. What has content beside it, and what no time cures, is the client's.
func TestA11AnErrorThatIsADocumentIsRetriedToo(t *testing.T) {
	const chatPath = "/openai/v1/chat/completions"
	fine := `{"object":"chat.completion","choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`
	for name, tc := range map[string]struct {
		path, body, answer string
		sends              int
	}{
		"Anthropic's overload":   {anthropicPath, message(10), overloaded, 2},
		"a throttle":             {anthropicPath, message(10), throttled, 2},
		"OpenAI's, with blanks":  {chatPath, `{"model":"m","messages":[]}`, "{\n  \"error\" : { \"code\": \"server_is_overloaded\", \"message\": \"busy\" }\n}", 2},
		"one that says its type": {"/vllm/v1/chat/completions", `{"model":"m","messages":[]}`, `{"object":"error","code":429,"type":"rate_limit_exceeded","message":"slow down"}`, 2},
		"always":                 {anthropicPath, message(10), overloaded, 4},
		"half an answer":         {chatPath, `{"model":"m","messages":[]}`, `{"choices":[{"message":{"content":"half"},"finish_reason":"error"}],"error":{"code":"server_is_overloaded"}}`, 1},
		"a wrong request":        {anthropicPath, message(10), `{"type":"error","error":{"type":"invalid_request_error","message":"x"}}`, 1},
		"an answer":              {anthropicPath, message(10), okMessage, 1},
		"an answer of no length": {chatPath, `{"model":"m","messages":[]}`, fine, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := scripted(func(n int, w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				if n > 1 && name != "always" {
					_, _ = io.WriteString(w, okMessage)
					return
				}
				_, _ = io.WriteString(w, tc.answer)
				if name == "an answer of no length" {
					_ = http.NewResponseController(w).Flush()
				}
			})
			simulate(t, s, onePolicy(anthropicRoute(canonical...), openaiRoute(), routeTo("vllm", "SelfHosted")), func(w *world) {
				a := w.post(tc.path, tc.body)
				want := okMessage
				if tc.sends != 2 {
					want = tc.answer
				}
				if a.status != http.StatusOK || a.body != want || a.err != nil || s.count() != tc.sends {
					t.Errorf("answer %d %q %v after %d sends", a.status, a.body, a.err, s.count())
				}
				if length := a.header.Get("Content-Length"); tc.sends == 1 && name != "an answer of no length" && length != strconv.Itoa(len(want)) {
					t.Errorf("its length is %q", length)
				}
				if held := a.header.Get(reply.HeaderShouldRetry) == "false"; held != (name == "always") {
					t.Errorf("headers %v", a.header)
				}
				w.atRest()
			})
		})
	}
}

// Every opening is recognised, with blanks between all that may have them.
func TestEachOpeningOfAnErrorIsKnown(t *testing.T) {
	for _, opening := range errorOpenings {
		for _, text := range []string{opening, opening + "x", " \n\t" + opening, strings.ReplaceAll(opening, ":", " : ")} {
			if is, _ := opensError([]byte(text)); !is {
				t.Errorf("%q is not taken for an error", text)
			}
		}
		if is, may := opensError([]byte(opening[:len(opening)-1])); is || !may {
			t.Errorf("%q is taken for an error, or for none that may come", opening[:len(opening)-1])
		}
	}
}
