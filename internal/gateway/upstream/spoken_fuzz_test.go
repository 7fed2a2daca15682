// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/testing/canary"
)

// FuzzSpoken: whatever a provider writes in the place of an answer, with the key that it was sent somewhere in it, the error of
// the send says nothing of that key and is short.
func FuzzSpoken(f *testing.F) {
	for _, seed := range []string{"HTTP/1.1 200 OK\r\nContent-Length: |\r\n\r\n", "|", "HTTP/1.1 |\r\n\r\n", "HTTP/1.1 200 OK\r\n|: a\r\n\r\n", "HTTP/1.1 200 OK\r\n |\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: |\r\n\r\n"} {
		head, tail, _ := strings.Cut(seed, "|")
		f.Add(head, tail)
	}
	key := canary.Key("repeated")
	f.Fuzz(func(t *testing.T, head, tail string) {
		if strings.Contains(head+tail, "c4n4ry") {
			return
		}
		err := exchange(t, head+key+tail)
		if err == nil {
			return
		}
		if text := Spoken(err); text == "" || strings.Contains(text, "c4n4ry") || len(text) > 300 {
			t.Errorf("%q: spoken as %q", head+tail, text)
		}
	})
}

// exchange is the error of a call that is answered with these bytes, or nil.
func exchange(t *testing.T, answer string) error {
	t.Helper()
	transport, err := NewTransport(Options{Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			if req, err := http.ReadRequest(bufio.NewReader(server)); err == nil {
				_, _ = io.Copy(io.Discard, req.Body)
			}
			_, _ = io.WriteString(server, answer)
			_ = server.Close()
		}()
		return client, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://provider.example/v1", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return errors.Join(err, resp.Body.Close())
}
