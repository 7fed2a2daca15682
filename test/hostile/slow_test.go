// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/dataplane"
)

// crowd is how many clients are slow at once.
const crowd = 200

// readers are fewer: for each the system itself takes some MiB of its answer.
const readers = 50

// wellMeant fails unless an ordinary call is answered although others misbehave.
func (h *hostile) wellMeant() {
	h.t.Helper()
	if status, text, err := h.post("/anthropic/v1/messages", strings.NewReader(`{"model":"m","max_tokens":1,"messages":[]}`), -1); status != http.StatusOK || err != nil {
		h.t.Errorf("a call that means well: answer %d %s, %v", status, text, err)
	}
}

// TestSlowSendersHoldNobodyUp: clients that never finish their headers are cut after ten seconds, and cost those who
// mean well nothing; when they are gone, so is all that they held.
func TestSlowSendersHoldNobodyUp(t *testing.T) {
	t.Parallel()
	h := start(t, nil, nil)
	h.wellMeant()
	rest := h.Descriptors()
	conns := make([]net.Conn, crowd)
	began := make([]time.Time, crowd)
	for i := range conns {
		began[i] = time.Now()
		conns[i] = h.dial()
		_, _ = io.WriteString(conns[i], "POST /openai/v1/chat/completions HTTP/1.1\r\nHost: gateway\r\nX-Slow: ")
	}
	cut := make(chan time.Duration, crowd)
	for i, c := range conns {
		go func() {
			for range 1000 {
				if _, err := io.WriteString(c, "x"); err != nil {
					break
				}
				time.Sleep(100 * time.Millisecond)
			}
			cut <- time.Since(began[i])
		}()
	}
	h.wellMeant()
	for range conns {
		if after := <-cut; after < 9*time.Second || after > 90*time.Second {
			t.Errorf("a connection was cut after %s", after)
		}
	}
	h.wellMeant()
	h.Eventually("the descriptors of the slow", func() bool { return h.Descriptors() <= rest+4 })
	if n := len(h.openai.calls()); n != 0 {
		t.Errorf("the provider got %d calls that nobody finished", n)
	}
	h.check()
}

// TestSlowBodiesHoldNobodyUp: bodies that come by the byte, or not at all, wait in little memory, reach no provider,
// and go with their clients.
func TestSlowBodiesHoldNobodyUp(t *testing.T) {
	t.Parallel()
	h := start(t, nil, nil)
	h.wellMeant()
	rest, before := h.Descriptors(), h.Resident()
	var conns []net.Conn
	for i := range crowd {
		c := h.dial()
		framing := []string{"Content-Length: 33554432\r\n", "Content-Length: 1000\r\n", "Content-Length: 9223372036854775807\r\n", "Transfer-Encoding: chunked\r\n"}[i%4]
		first := []string{"{", "{", "{", "7fffffffffffffff\r\n{"}[i%4]
		_, _ = io.WriteString(c, request(chatLine, framing, first))
		conns = append(conns, c)
	}
	for range 5 {
		for _, c := range conns {
			_, _ = io.WriteString(c, " ")
		}
		time.Sleep(100 * time.Millisecond)
	}
	h.wellMeant()
	if grown := h.Resident() - before; grown > 192*mib {
		t.Errorf("%d bodies that do not come take %d MiB", crowd, grown/mib)
	}
	for _, c := range conns {
		_ = c.Close()
	}
	h.Eventually("the descriptors of the slow", func() bool { return h.Descriptors() <= rest+4 })
	if n := len(h.openai.calls()); n != 0 {
		t.Errorf("the provider got %d calls that nobody finished", n)
	}
	h.check()
}

// TestSlowReadersHoldNobodyUp: answers that nobody takes are not collected in memory, and a provider is let go when
// the client goes.
func TestSlowReadersHoldNobodyUp(t *testing.T) {
	t.Parallel()
	left := make(chan struct{}, readers)
	endless := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		event := []byte("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" + strings.Repeat("words ", 1000) + "\"}}]}\n\n")
		for r.Context().Err() == nil {
			if _, err := w.Write(event); err != nil {
				break
			}
		}
		left <- struct{}{}
	}
	h := start(t, endless, nil)
	h.wellMeant()
	rest, before := h.Descriptors(), h.Resident()
	var conns []net.Conn
	for range readers {
		c := h.dial()
		// A small window, so that little is under way in the system itself.
		_ = c.(*net.TCPConn).SetReadBuffer(4 << 10) //nolint:forcetypeassert // it is one
		_, _ = io.WriteString(c, request(chatLine, "Content-Length: 42\r\n", `{"model":"m","stream":true,"messages":[]}`+" "))
		conns = append(conns, c)
	}
	h.Eventually("the streams", func() bool { return len(h.openai.calls()) == readers })
	time.Sleep(time.Second)
	h.wellMeant()
	if grown := h.Resident() - before; grown > 48*mib {
		t.Errorf("%d streams that nobody reads take %d MiB", readers, grown/mib)
	}
	for _, c := range conns {
		_ = c.Close()
	}
	for range conns {
		select {
		case <-left:
		case <-time.After(dataplane.Patience):
			t.Fatal("the provider goes on sending to a client that is gone")
		}
	}
	h.Eventually("the descriptors of the slow", func() bool { return h.Descriptors() <= rest+4 })
	h.check()
}
