// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// framing is what is sent, and what comes of it: the statuses of the answers, and method, path and body of what the
// first provider got.
type framing struct {
	name, sent string
	// statuses are those of the answers; 0 is any failure. None: there may be any.
	statuses []int
	got      []string
	// hidden is how many calls of the other route are in it beyond doubt.
	hidden int
}

const (
	chatLine = "POST /openai/v1/chat/completions HTTP/1.1"
	// hidden is a request in the place of a body: it must stay one, or be refused with its place.
	hidden = "GET /anthropic/v1/models HTTP/1.1\r\nHost: gateway\r\n\r\n"
	chat   = "POST " + basePath + "/v1/chat/completions "
)

func chunked(body string) string {
	return request(chatLine, "Transfer-Encoding: chunked\r\nConnection: close\r\n", body)
}

func framings() []framing {
	n := fmt.Sprint(len(hidden))
	return slices.Concat([]framing{
		{"a length and chunks", request(chatLine, "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), []int{200}, []string{chat}, 0},
		{"a length and chunks, with a request hidden", request(chatLine, "Content-Length: "+fmt.Sprint(len(hidden)+5)+"\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"+hidden), []int{200, 200}, []string{chat}, 1},
		{"a length that covers a request", request(chatLine, "Content-Length: "+n+"\r\n", hidden), []int{200}, []string{chat + hidden}, 0},
		{"the same length twice", request(chatLine, "Content-Length: 2\r\nContent-Length: 2\r\n", "{}"), []int{200}, []string{chat + "{}"}, 0},
		{"two lengths", request(chatLine, "Content-Length: 0\r\nContent-Length: "+n+"\r\n", hidden), []int{400}, nil, 0},
		{"two lengths, the other way", request(chatLine, "Content-Length: "+n+"\r\nContent-Length: 0\r\n", hidden), []int{400}, nil, 0},
		{"chunks of upper case", request(chatLine, "Transfer-Encoding: CHUNKED\r\n", "2\r\n{}\r\n0\r\n\r\n"), []int{200}, []string{chat + "{}"}, 0},
		{"a body that a GET has", request("GET /openai/v1/models HTTP/1.1", "Content-Length: "+n+"\r\n", hidden), []int{200}, []string{"GET " + basePath + "/v1/models " + hidden}, 0},
		{"bare line feeds", strings.ReplaceAll(request(chatLine, "Content-Length: 2\r\n", "{}"), "\r\n", "\n"), []int{200}, []string{chat + "{}"}, 0},
		{"a folded header", request(chatLine, "X-Fold: one\r\n two\r\nContent-Length: 2\r\n", "{}"), []int{200}, []string{chat + "{}"}, 0},
		{"two calls on one connection", request("GET /openai/v1/a HTTP/1.1", "", "") + request("GET /openai/v1/b HTTP/1.1", "", ""), []int{200, 200}, []string{"GET " + basePath + "/v1/a ", "GET " + basePath + "/v1/b "}, 0},
		{"an upgrade to HTTP/2", request("GET /openai/v1/a HTTP/1.1", "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n", ""), []int{200}, []string{"GET " + basePath + "/v1/a "}, 0},
		{"an upgrade to a socket", request("GET /openai/v1/realtime HTTP/1.1", "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n", ""), []int{200}, []string{"GET " + basePath + "/v1/realtime "}, 0},
		{"headers named as of one connection", request("GET /openai/v1/a HTTP/1.1", "Connection: close, Content-Length, Host, X-Api-Key, Authorization\r\n", ""), []int{200}, []string{"GET " + basePath + "/v1/a "}, 0},
		{"HTTP/1.0", request("GET /openai/v1/a HTTP/1.0", "", ""), []int{200}, []string{"GET " + basePath + "/v1/a "}, 0},
		{"an expectation that is met", request(chatLine, "Expect: 100-continue\r\nContent-Length: 2\r\nConnection: close\r\n", "{}"), nil, []string{chat + "{}"}, 0},
	}, chunks(), siblings(), refused())
}

// chunks are bodies in chunks.
func chunks() []framing {
	return []framing{
		{"an extension of a chunk", chunked("2;a=b;c=\"d\"\r\n{}\r\n0;e\r\n\r\n"), []int{200}, []string{chat + "{}"}, 0},
		{"a line feed in an extension", chunked("2;\n\r\n{}\r\n0\r\n\r\n"), []int{400}, nil, 0},
		{"a chunk that ends too soon", chunked("5\r\n{}\r\n0\r\n\r\n"), []int{400}, nil, 0},
		{"a chunk that ends too late", chunked("1\r\n{}\r\n0\r\n\r\n"), []int{400}, nil, 0},
		{"a negative chunk", chunked("-1\r\n{}\r\n0\r\n\r\n"), []int{400}, nil, 0},
		{"a chunk with a prefix", chunked("0x2\r\n{}\r\n0\r\n\r\n"), []int{400}, nil, 0},
		{"a chunk longer than any number", chunked("fffffffffffffffff\r\n{}\r\n0\r\n\r\n"), []int{400}, nil, 0},
		{"trailers", chunked("2\r\n{}\r\n0\r\nX-Api-Key: other\r\nContent-Length: 9\r\n\r\n"), nil, []string{chat + "{}"}, 0},
		{"a trailer that was told", request(chatLine, "Trailer: X-Sum, Authorization\r\nTransfer-Encoding: chunked\r\n", "2\r\n{}\r\n0\r\nX-Sum: 1\r\n\r\n"), []int{200}, []string{chat + "{}"}, 0},
		{"many extensions", chunked(strings.Repeat("1;"+strings.Repeat("x", 4000)+"\r\n{\r\n", 200) + "0\r\n\r\n"), []int{400}, nil, 0},
		{"a line of an extension without end", chunked("1;" + strings.Repeat("x", 1<<20)), []int{400}, nil, 0},
	}
}

// refused are requests whose framing can be read in two ways, or in none.
func refused() (out []framing) {
	for name, headers := range map[string]string{
		"a space before the colon":     "Transfer-Encoding : chunked\r\nContent-Length: 5\r\n",
		"a coding of another name":     "Transfer-Encoding: xchunked\r\nContent-Length: 5\r\n",
		"two codings":                  "Transfer-Encoding: identity, chunked\r\nContent-Length: 5\r\n",
		"chunks not last":              "Transfer-Encoding: chunked, identity\r\nContent-Length: 5\r\n",
		"codings in two lines":         "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\nContent-Length: 5\r\n",
		"a tab that is none":           "Transfer-Encoding: \vchunked\r\nContent-Length: 5\r\n",
		"a folded coding":              "Transfer-Encoding:\r\n xchunked\r\nContent-Length: 5\r\n",
		"a list of lengths":            "Content-Length: 5, 5\r\n",
		"a length with a sign":         "Content-Length: +5\r\n",
		"a negative length":            "Content-Length: -5\r\n",
		"a hexadecimal length":         "Content-Length: 0x5\r\n",
		"a length in words":            "Content-Length: five\r\n",
		"a length with a gap":          "Content-Length: 5 5\r\n",
		"a length beyond any":          "Content-Length: 9223372036854775808\r\n",
		"a zero byte in a value":       "X-A: a\x00b\r\nContent-Length: 5\r\n",
		"a zero byte in a name":        "X\x00A: b\r\nContent-Length: 5\r\n",
		"a carriage return in a value": "X-A: a\rX-Api-Key: b\r\nContent-Length: 5\r\n",
		"a name with a space":          "X A: b\r\nContent-Length: 5\r\n",
		"a line without a colon":       "X-A\r\nContent-Length: 5\r\n",
		"a name that is none":          ": b\r\nContent-Length: 5\r\n",
		"another host":                 "Host: other\r\nContent-Length: 5\r\n",
	} {
		out = append(out, framing{name, request(chatLine, headers, "0\r\n\r\n"+hidden), []int{0}, nil, 0})
	}
	for name, line := range map[string]string{
		"a space in the path":    "GET /openai/v1/a b HTTP/1.1",
		"no version":             "GET /openai/v1/a",
		"a version of the past":  "GET /openai/v1/a HTTP/0.9",
		"a version to come":      "GET /openai/v1/a HTTP/3.0",
		"a method with a colon":  "GE:T /openai/v1/a HTTP/1.1",
		"no method":              " /openai/v1/a HTTP/1.1",
		"a control character":    "GET /openai/v1/\x01 HTTP/1.1",
		"a zero byte":            "GET /openai/v1/\x00 HTTP/1.1",
		"a path without a slash": "GET openai/v1/a HTTP/1.1",
		"a broken escape":        "GET /openai/v1/%zz HTTP/1.1",
	} {
		out = append(out, framing{name, request(line, "", ""), []int{0}, nil, 0})
	}
	return append(out,
		framing{"no host", "GET /openai/v1/a HTTP/1.1\r\n\r\n", []int{0}, nil, 0},
		framing{"a host with a path", "GET /openai/v1/a HTTP/1.1\r\nHost: a/../b\r\n\r\n", []int{0}, nil, 0},
		framing{"TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + strings.Repeat("\x00", 600) + "\r\n\r\n", []int{0}, nil, 0},
		framing{"noise", strings.Repeat("\xff\x00\r\n", 100) + "\r\n\r\n", []int{0}, nil, 0},
	)
}

// TestFramingIsReadInOneWayOnly sends what has been used to hide one request in another. What passes is passed on
// with a framing of the gateway's own; all else is refused, with all that follows it on the connection.
func TestFramingIsReadInOneWayOnly(t *testing.T) {
	t.Parallel()
	h := start(t, nil, nil)
	for _, tc := range framings() {
		t.Run(tc.name, func(t *testing.T) {
			first, second := h.openai.calls(), h.anthropic.calls()
			replies, closed := h.exchange(t, tc.sent, max(1, len(tc.statuses)))
			statuses := statusesOf(replies)
			if tc.statuses != nil && !slices.EqualFunc(statuses, tc.statuses, func(got, want int) bool { return got == want || want == 0 && got >= 400 && got < 600 }) {
				t.Errorf("answers %v, want %v", statuses, tc.statuses)
			}
			if len(statuses) > 0 && statuses[0] >= 400 && !closed {
				t.Error("the connection goes on after a request that could not be read")
			}
			if got := inLines(h.openai.calls()[len(first):]); !slices.Equal(got, tc.got) {
				t.Errorf("the provider got %q, want %q", got, tc.got)
			}
			if n := len(h.anthropic.calls()) - len(second); n != tc.hidden {
				t.Errorf("the other provider got %d calls, want %d", n, tc.hidden)
			}
		})
	}
	h.check()
}

func statusesOf(replies []reply) (out []int) {
	for _, r := range replies {
		if r.status != http.StatusContinue {
			out = append(out, r.status)
		}
	}
	return out
}

func inLines(calls []seen) (out []string) {
	for i := range calls {
		out = append(out, calls[i].method+" "+calls[i].uri+" "+calls[i].body)
	}
	return out
}
