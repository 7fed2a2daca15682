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

// send writes bytes as they are, and returns the answers until the gateway closes or says nothing more.
func (h *hostile) send(t *testing.T, bytes string) (replies []reply, closed bool) {
	t.Helper()
	conn := h.dial()
	go func() { _, _ = io.WriteString(conn, bytes) }()
	in := bufio.NewReader(conn)
	for {
		_ = conn.SetReadDeadline(time.Now().Add(within(len(replies))))
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			return replies, !errors.Is(err, os.ErrDeadlineExceeded)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		replies = append(replies, reply{resp.StatusCode, resp.Header, string(body)})
	}
}

// within waits long for the first answer, and shortly for what may never come.
func within(answered int) time.Duration {
	if answered == 0 {
		return 15 * time.Second
	}
	return quiet
}

// request is a request line, headers and a body. HOST is the gateway's own address.
func request(line, headers, body string) string {
	return line + "\r\nHost: gateway\r\nX-Api-Key: " + appKey + "\r\n" + headers + "\r\n" + body
}
