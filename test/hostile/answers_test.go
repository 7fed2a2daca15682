// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/canary"
	"github.com/headgate-dev/headgate/internal/testing/dataplane"
)

// rawAnswer is what a provider writes, and what its caller is to get of it: a status, 0 for none at all, and a body.
// KEY stands for the key that the provider was sent.
type rawAnswer struct {
	name, bytes string
	status      int
	body        string
}

const (
	ok200 = "HTTP/1.1 200 OK\r\n"
	two   = "Content-Length: 2\r\n\r\n{}"
)

func rawAnswers() []rawAnswer {
	short := strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", 3)
	var headers strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&headers, "X-%d: y\r\n", i)
	}
	half := headers.String()[:headers.Len()/3]
	half = half[:strings.LastIndex(half, "X-")]
	return []rawAnswer{
		{"no HTTP", `{"error":"wrong key KEY"}`, 502, ""},
		{"a version that is none", "KEY 200 OK\r\n\r\n", 502, ""},
		{"a status that is none", "HTTP/1.1 KEY\r\n\r\n", 502, ""},
		{"a status of four digits", "HTTP/1.1 1000 KEY\r\n\r\n", 502, ""},
		{"a reason", "HTTP/1.1 418 KEY\r\n" + two, 418, "{}"},
		{"a status of no class", "HTTP/1.1 999 Odd\r\n" + two, 999, "{}"},
		{"a line without a colon", ok200 + "Wrong KEY\r\n\r\n", 502, ""},
		{"a zero byte", ok200 + "X: KEY\x00\r\n" + two, 502, ""},
		{"a carriage return", ok200 + "X: KEY\rX-B: KEY\r\n" + two, 502, ""},
		{"a length that is none", ok200 + "Content-Length: KEY\r\n\r\n{}", 502, ""},
		{"a negative length", ok200 + "Content-Length: -2\r\n\r\n{}", 502, ""},
		{"a length with a sign", ok200 + "Content-Length: +2\r\n\r\n{}", 502, ""},
		{"two lengths", ok200 + "Content-Length: 1\r\nContent-Length: KEY\r\n\r\n{}", 502, ""},
		{"a coding that is none", ok200 + "Transfer-Encoding: KEY\r\n\r\n", 502, ""},
		{"two codings", ok200 + "Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 502, ""},
		{"a length and chunks", ok200 + "Transfer-Encoding: chunked\r\n" + "Content-Length: 9\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 200, "{}"},
		{"half a head", ok200 + "X: KEY", 502, ""},
		{"nothing", "", 502, ""},
		{"another protocol", "HTTP/1.1 101 KEY\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nKEY", 502, ""},
		{"hints before the answer", short + ok200 + two, 200, "{}"},
		{"hints without an answer", short, 502, ""},
		{"hints without end", strings.Repeat(short, 5000), 502, ""},
		{"a third of 30,000 headers", ok200 + half + two, 200, "{}"},
		{"30,000 headers", ok200 + headers.String() + two, 502, ""},
		{"a body where there is none", "HTTP/1.1 204 No Content\r\nContent-Length: 40\r\n\r\nKEY", 204, ""},
		{"a body of what did not change", "HTTP/1.1 304 Not Modified\r\nContent-Length: 40\r\n\r\nKEY", 304, ""},
		{"more than was told", ok200 + two + "KEY", 200, "{}"},
		{"a second answer", ok200 + two + ok200 + "Content-Length: 40\r\n\r\nKEY", 200, "{}"},
		{"less than was told", ok200 + "Content-Length: 3\r\n\r\n{}", 200, "{}"},
		{"a chunk that is none", ok200 + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\nKEY\r\n", 200, "{}"},
		{"a trailer", ok200 + "Transfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n2\r\n{}\r\n0\r\nX-T: KEY\r\n\r\n", 200, "{}"},
		{"an answer of the past", "HTTP/1.0 200 OK\r\n\r\n{}", 200, "{}"},
		{"a coding that the body has not", ok200 + "Content-Type: application/json\r\nContent-Encoding: gzip\r\n" + two, 200, "{}"},
		{"a bomb", bomb(ok200 + "Content-Type: application/json\r\n"), 200, ""},
		{"a bomb of events", bomb(ok200 + "Content-Type: text/event-stream\r\n"), 200, ""},
		{"a bomb of an error", bomb("HTTP/1.1 500 Internal Server Error\r\n"), 500, ""},
		{"a document that is deep", fmt.Sprintf("%sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", ok200, mib, strings.Repeat("[", mib)), 200, ""},
	}
}

// bomb is an answer of 64 MiB in some kilobytes.
func bomb(head string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.CopyN(z, fill{}, 64*mib)
	_ = z.Close()
	return fmt.Sprintf("%sContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", head, b.Len(), b.Bytes())
}

// gone waits until the gateway has closed the connection of an answer.
func gone(t *testing.T, closed <-chan struct{}) {
	t.Helper()
	select {
	case <-closed:
	case <-time.After(dataplane.Patience):
		t.Error("the gateway keeps a connection that its provider has closed")
	}
}

// TestAnswersThatAreNoneHarmNobodyAndShowNothing: whatever a provider writes, its caller gets an answer or a broken one, never
// more than that; nothing of it is said in the gateway's own words, for it may repeat the key; others are served.
func TestAnswersThatAreNoneHarmNobodyAndShowNothing(t *testing.T) {
	t.Parallel()
	answers, closed := rawAnswers(), make(chan struct{}, 1)
	h := start(t, nil, func(w http.ResponseWriter, r *http.Request) {
		i, err := strconv.Atoi(r.Header.Get("X-Case"))
		if err != nil {
			newUpstream(nil).answer(w, r)
			return
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		// The gateway may have had enough before the end; when it has closed, no later call comes on this connection.
		_ = conn.SetDeadline(time.Now().Add(time.Minute))
		_, _ = io.WriteString(conn, strings.ReplaceAll(answers[i].bytes, "KEY", r.Header.Get("X-Api-Key")))
		_ = conn.(*tls.Conn).CloseWrite()
		_, _ = io.Copy(io.Discard, conn)
		_ = conn.Close()
		closed <- struct{}{}
	})
	for i, a := range answers {
		t.Run(a.name, func(t *testing.T) {
			defer gone(t, closed)
			body := fmt.Sprintf(`{"model":"model-%d","max_tokens":1,"messages":[]}`, i)
			replies, _ := h.send(t, request("POST /anthropic/v1/messages HTTP/1.1", fmt.Sprintf("X-Case: %d\r\nContent-Length: %d\r\nConnection: close\r\n", i, len(body)), body))
			if len(replies) != 1 || replies[0].status != a.status || a.body != "" && replies[0].body != a.body {
				t.Errorf("answers %.300v, want %d %s", replies, a.status, a.body)
			}
			if at := canary.Any(fmt.Sprint(replies)); at != "" {
				t.Errorf("the answer repeats what the provider said in the place of one: …%s…", at)
			}
		})
	}
	h.wellMeant()
	h.Eventually("rest", func() bool {
		reserved, found := h.Metric(`headgate_reserved{limit="input-tokens",namespace="team-support",policy="support",provider="anthropic"}`)
		return found && reserved == 0
	})
	if mem := h.Resident(); mem > 192*mib {
		t.Errorf("the gateway takes %d MiB", mem/mib)
	}
	h.check()
}
