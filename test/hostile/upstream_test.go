// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// upstream is a provider that notes what it got. It speaks HTTP/1.1, where framing can be confused.
type upstream struct {
	host   string
	answer http.HandlerFunc
	mu     sync.Mutex
	got    []seen
}

// seen is a request as an upstream got it.
type seen struct {
	method, uri, host, proto string
	header                   http.Header
	head                     string // all of it in one line, to be searched
	length, declared         int64
	chunked                  bool
	trailer                  http.Header
	body                     string // the first of it
	sum                      [sha256.Size]byte
	err                      error
}

const keptBody = 1 << 10

func newUpstream(answer http.HandlerFunc) *upstream {
	if answer == nil {
		answer = func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"model":"m","usage":{"input_tokens":1,"output_tokens":1,"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`)
		}
	}
	return &upstream{answer: answer}
}

// serve runs it with the certificate that every test server has, and returns its URL.
func (u *upstream) serve(t *testing.T) string {
	t.Helper()
	s := httptest.NewTLSServer(u)
	t.Cleanup(s.Close)
	u.host = strings.TrimPrefix(s.URL, "https://")
	return s.URL
}

func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s := seen{
		method: r.Method, uri: r.RequestURI, host: r.Host, proto: r.Proto, header: r.Header.Clone(), declared: r.ContentLength,
		chunked: len(r.TransferEncoding) > 0,
	}
	s.head = fmt.Sprint(s.method, " ", s.uri, " ", s.host, " ", s.header)
	sum, first := sha256.New(), &strings.Builder{}
	s.length, s.err = io.Copy(io.MultiWriter(sum, &limited{first, keptBody}), r.Body)
	copy(s.sum[:], sum.Sum(nil))
	s.body, s.trailer = first.String(), r.Trailer
	u.mu.Lock()
	u.got = append(u.got, s)
	u.mu.Unlock()
	u.answer(w, r)
}

func (u *upstream) calls() []seen {
	u.mu.Lock()
	defer u.mu.Unlock()
	return append([]seen(nil), u.got...)
}

// limited keeps the first bytes only.
type limited struct {
	b    *strings.Builder
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.left -= n
	_, _ = l.b.Write(p[:n])
	return len(p), nil
}

// hopByHop headers and marks of framing that must not be passed on.
var hopByHop = []string{"Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authorization", "Te", "Trailer", "Upgrade", "Http2-Settings", "Expect", "Transfer-Encoding", "Content_length", "Transfer_encoding"}

// wellFormed fails unless the request's framing is beyond doubt.
func (s *seen) wellFormed(t *testing.T) {
	t.Helper()
	for _, name := range hopByHop {
		if values := s.header.Values(name); len(values) > 0 {
			t.Errorf("%s was passed on: %q", name, values)
		}
	}
	if len(s.trailer) > 0 {
		t.Errorf("trailers were passed on: %v", s.trailer)
	}
	if s.proto != "HTTP/1.1" || s.chunked && s.declared >= 0 || s.err == nil && s.declared >= 0 && s.declared != s.length {
		t.Errorf("framing: %s, chunked %t, %d bytes declared and %d come", s.proto, s.chunked, s.declared, s.length)
	}
	for name, values := range s.header {
		for _, v := range values {
			if strings.ContainsAny(v, "\r\n\x00") || strings.ContainsAny(name, " \t:\r\n") {
				t.Errorf("header %q: %q", name, v)
			}
		}
	}
}
