// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// script is a provider that does as it is told and keeps the times of arrivals.
type script struct {
	mu       sync.Mutex
	arrivals []time.Time
	bodies   []string
	headers  []http.Header
	uris     []string
	// gone counts calls whose client left before the answer was over.
	gone int
	do   func(n int, w http.ResponseWriter, r *http.Request)
}

// scripted answers the n-th call, counted from 1.
func scripted(do func(n int, w http.ResponseWriter, r *http.Request)) *script { return &script{do: do} }

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.mu.Lock()
	s.arrivals = append(s.arrivals, time.Now())
	s.bodies = append(s.bodies, string(body))
	s.headers = append(s.headers, r.Header.Clone())
	s.uris = append(s.uris, r.RequestURI)
	n := len(s.arrivals)
	s.mu.Unlock()
	defer func() {
		if r.Context().Err() != nil {
			s.mu.Lock()
			s.gone++
			s.mu.Unlock()
		}
	}()
	s.do(n, w, r)
}

func (s *script) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.arrivals)
}

func (s *script) left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gone
}

func (s *script) gap(n int) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.arrivals[n].Sub(s.arrivals[n-1])
}

const okMessage = `{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","usage":{"input_tokens":100,"output_tokens":20}}`

func answerOK(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, okMessage)
}

const throttled = `{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your rate limit."}}`

// throttle answers 429; headers are names, each with its value.
func throttle(w http.ResponseWriter, headers ...string) {
	fail(w, http.StatusTooManyRequests, throttled, headers...)
}

func fail(w http.ResponseWriter, status int, body string, headers ...string) {
	w.Header().Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		w.Header().Add(headers[i], headers[i+1])
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

// event writes one event of a stream and sends it off.
func event(w http.ResponseWriter, name, data string) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	if name != "" {
		_, _ = fmt.Fprintf(w, "event: %s\n", name)
	}
	_, _ = fmt.Fprintf(w, "data: %s\n\n", data)
	_ = http.NewResponseController(w).Flush()
}

const (
	messageStart = `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"model":"claude-sonnet-4-5","usage":{"input_tokens":100,"output_tokens":1}}}`
	overloaded   = `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`
)

func delta(text string) string {
	return `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"` + text + `"}}`
}

// finish ends an Anthropic stream that produced so many tokens.
func finish(w http.ResponseWriter, output int) {
	event(w, "content_block_stop", `{"type":"content_block_stop","index":0}`)
	event(w, "message_delta", fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":%d}}`, output))
	event(w, "message_stop", `{"type":"message_stop"}`)
}

func streamed(tokens int) string {
	return strings.Replace(message(tokens), `"max_tokens":16`, `"max_tokens":400,"stream":true`, 1)
}
