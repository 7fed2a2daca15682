// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/headgate-dev/headgate/internal/gateway/upstream"
)

// counting counts what is written to a connection, each write being a packet of its own.
type counting struct {
	net.Conn
	writes *atomic.Int64
}

func (c counting) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(p)
}

// TestASmallCallIsOnePacket: a head that is sent before its body wakes the provider twice.
func TestASmallCallIsOnePacket(t *testing.T) {
	stream := `{"model":"gpt-4.1","stream":true,"messages":[{"role":"user","content":"` + marked(strings.Repeat("a ", 1500)) + `"}]}`
	cases := map[string]struct {
		path, body string
		want       int64
	}{
		"plain":               {"/anthropic/v1/messages", message(100), 1},
		"stream":              {"/openai/v1/chat/completions", strings.Replace(stream, strings.Repeat("a ", 1400), "", 1), 1},
		"stream, larger body": {"/openai/v1/chat/completions", stream, 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			simulate(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answerOK(w) }), onePolicy(anthropicRoute(), openaiRoute()), func(w *world) {
				var writes atomic.Int64
				transport, err := upstream.NewTransport(upstream.Options{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
					conn, err := w.provider.dial(ctx, network, address)
					return counting{conn, &writes}, err
				}})
				if err != nil {
					t.Fatal(err)
				}
				transport.Proxy = nil
				defer transport.CloseIdleConnections()
				w.gateway.SetTransport(transport)
				if got := w.post(tc.path, tc.body); got.status != http.StatusOK {
					t.Fatalf("%+v", got)
				}
				if got := writes.Load(); got != tc.want {
					t.Errorf("%d writes, want %d", got, tc.want)
				}
				w.atRest()
			})
		})
	}
}
