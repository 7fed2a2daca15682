// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/dataplane"
)

// quiet is how long nothing must come before a connection is taken to have said all.
const quiet = 300 * time.Millisecond

// dial opens a connection to the data port.
func (h *hostile) dial() net.Conn {
	h.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(h.URL, "http://"))
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// reply is one answer to raw bytes.
type reply struct {
	status int
	header http.Header
	body   string
}

// send writes bytes as they are, and returns the answer, and whatever comes behind it until the gateway closes or says nothing
// more.
func (h *hostile) send(t *testing.T, bytes string) (replies []reply, closed bool) {
	t.Helper()
	return h.exchange(t, bytes, 1)
}

// exchange is send where so many answers are due.
func (h *hostile) exchange(t *testing.T, bytes string, due int) (replies []reply, closed bool) {
	t.Helper()
	conn := h.dial()
	go func() { _, _ = io.WriteString(conn, bytes) }()
	in := bufio.NewReader(conn)
	for {
		_ = conn.SetReadDeadline(time.Now().Add(within(replies, due)))
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			return replies, !errors.Is(err, os.ErrDeadlineExceeded)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		replies = append(replies, reply{resp.StatusCode, resp.Header, string(body)})
	}
}

// within waits long for what must come, the answers that are due and the end behind a refusal, and shortly for what may never
// come.
func within(replies []reply, due int) time.Duration {
	if got := statusesOf(replies); len(got) < due || got[len(got)-1] >= http.StatusBadRequest {
		return dataplane.Patience
	}
	return quiet
}

// request is a request line, headers and a body. HOST is the gateway's own address.
func request(line, headers, body string) string {
	return line + "\r\nHost: gateway\r\nX-Api-Key: " + appKey + "\r\n" + headers + "\r\n" + body
}
