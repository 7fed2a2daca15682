// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/dataplane"
)

// Types and flags of HTTP/2's frames, by RFC 9113.
const (
	frameData         = 0x0
	frameHeaders      = 0x1
	frameReset        = 0x3
	frameSettings     = 0x4
	framePing         = 0x6
	frameWindow       = 0x8
	frameContinuation = 0x9

	preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
)

func frame(kind, flags byte, stream uint32, payload []byte) []byte {
	f := binary.BigEndian.AppendUint32(nil, uint32(len(payload))<<8|uint32(kind))
	return append(binary.BigEndian.AppendUint32(append(f, flags), stream), payload...)
}

// asksAs is a chat's headers, as HTTP/2 has them.
func asksAs(flags byte, stream uint32) []byte {
	var block []byte
	for _, h := range [][2]string{
		{":method", "POST"}, {":scheme", "http"}, {":authority", "gateway"}, {":path", "/openai/v1/chat/completions"}, {"x-api-key", appKey},
	} {
		block = append(append(block, 0, byte(len(h[0]))), h[0]...)
		block = append(append(block, byte(len(h[1]))), h[1]...)
	}
	return frame(frameHeaders, flags, stream, block)
}

// floods are what is sent on streams 1, 3, 5, … again and again.
var floods = map[string]func(stream uint32) []byte{
	"rapid resets": func(stream uint32) []byte {
		return append(asksAs(0x5, stream), frame(frameReset, 0, stream, []byte{0, 0, 0, 8})...)
	},
	"continuations":   func(stream uint32) []byte { return frame(frameContinuation, 0, 1, bytes.Repeat([]byte{0x82}, 1000)) },
	"settings":        func(uint32) []byte { return frame(frameSettings, 0, 0, []byte{0, 4, 0, 0, 0xff, 0xff}) },
	"pings":           func(uint32) []byte { return frame(framePing, 0, 0, []byte("12345678")) },
	"windows":         func(stream uint32) []byte { return frame(frameWindow, 0, stream, []byte{0x7f, 0xff, 0xff, 0xff}) },
	"open streams":    func(stream uint32) []byte { return asksAs(0x4, stream) },
	"empty data":      func(stream uint32) []byte { return append(asksAs(0x4, stream), frame(frameData, 0, stream, nil)...) },
	"half of headers": func(stream uint32) []byte { return asksAs(0, stream) },
}

// upgrade asks for HTTP/2 as HTTP/1.1 has it.
var upgrade = request("GET /openai/v1/a HTTP/1.1", "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n", "")

// TestFloodsOfHTTP2ReachNothing: the data port speaks HTTP/1.1 alone, so that none of what HTTP/2 can be flooded with is there. Each
// connection has its end at once, whatever was said before, and nothing of it goes to a provider or stays.
func TestFloodsOfHTTP2ReachNothing(t *testing.T) {
	t.Parallel()
	h := start(t, nil, nil)
	h.wellMeant()
	rest := h.atRest()
	const each = 8
	var wg sync.WaitGroup
	for name, flood := range floods {
		for i := range each {
			conn, first := h.dial(), ""
			if i%2 == 1 {
				first = upgrade
			}
			wg.Go(func() {
				_ = conn.SetDeadline(time.Now().Add(dataplane.Patience))
				if err := drown(conn, first+preface, flood); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("%s: the connection had no end: %v", name, err)
				}
				answers, _ := io.ReadAll(conn)
				if strings.Contains(string(answers), "HTTP/1.1 101") {
					t.Errorf("%s: %q", name, answers)
				}
			})
		}
	}
	wg.Wait()
	h.wellMeant()
	if n := len(h.openai.calls()); n > len(floods)*each/2 {
		t.Errorf("the provider got %d calls, of %d that were HTTP/1.1's", n, len(floods)*each/2)
	}
	h.settled(rest)
	h.check()
}

// drown sends up to 16 MiB of a flood, and returns the error at which its connection ends.
func drown(conn net.Conn, first string, flood func(stream uint32) []byte) error {
	if _, err := io.WriteString(conn, first); err != nil {
		return err
	}
	var piece []byte
	for stream := uint32(1); len(piece) < 64<<10; stream += 2 {
		piece = append(piece, flood(stream)...)
	}
	for range 256 {
		if _, err := conn.Write(piece); err != nil {
			return err
		}
	}
	return nil
}

// TestCallsThatAreResetAtOnceLeaveNothing: HTTP/1.1's own rapid reset, one call or many in a connection that is gone as soon as they
// are written.
func TestCallsThatAreResetAtOnceLeaveNothing(t *testing.T) {
	t.Parallel()
	slow := func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-time.After(200 * time.Millisecond):
			_, _ = io.WriteString(w, "{}")
		}
	}
	h := start(t, slow, nil)
	h.wellMeant()
	rest := h.atRest()
	const text = `{"model":"m","stream":true,"messages":[]}`
	call := request(chatLine, "Content-Length: "+strconv.Itoa(len(text))+"\r\n", text)
	for i := range crowd {
		conn := h.dial()
		_, _ = io.WriteString(conn, strings.Repeat(call, 1+i%2*49))
		_ = conn.(*net.TCPConn).SetLinger(0) //nolint:forcetypeassert // it is one
		_ = conn.Close()
	}
	h.wellMeant()
	h.settled(rest)
	sent := float64(len(h.openai.calls()))
	if came := h.sum("headgate_calls_offered_total{", `provider="openai"`); came == 0 || sent > came {
		t.Errorf("%v calls came and %v were sent", came, sent)
	}
	h.check()
}

// sum adds the metrics whose lines begin with name and have a label.
func (h *hostile) sum(name, label string) (total float64) {
	h.t.Helper()
	_, page := h.Get(h.Admin + "/metrics")
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, name) && strings.Contains(line, label) {
			value, err := strconv.ParseFloat(strings.TrimSpace(line[strings.LastIndexByte(line, ' '):]), 64)
			if err != nil {
				h.t.Errorf("%s: %v", line, err)
			}
			total += value
		}
	}
	return total
}

// idle is what the gateway has while it does nothing.
type idle struct{ goroutines, descriptors int }

func (h *hostile) atRest() idle {
	h.t.Helper()
	return idle{int(h.sum("go_goroutines", "")), h.Descriptors()}
}

// settled waits until nothing is reserved, queued, or held beside what there was.
func (h *hostile) settled(before idle) {
	h.t.Helper()
	h.Eventually("the end of all calls", func() bool {
		return h.sum("headgate_reserved", "") == 0 && h.sum("headgate_queue_depth", "") == 0 &&
			h.sum("headgate_calls_total{", "") == h.sum("headgate_calls_offered_total{", "")
	})
	h.Server.CloseClientConnections() // those that the gateway keeps for calls to come
	h.Eventually("the end of all that they held", func() bool {
		now := h.atRest()
		return now.goroutines <= before.goroutines+8 && now.descriptors <= before.descriptors+4
	})
}
