// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/headgate-dev/headgate/internal/coordinator"
	"github.com/headgate-dev/headgate/internal/figures"
	"github.com/headgate-dev/headgate/internal/testing/bubble"
	"github.com/headgate-dev/headgate/internal/wire"
)

// Types and flags of HTTP/2's frames, by RFC 9113.
const (
	frameData     = 0x0
	frameHeaders  = 0x1
	frameSettings = 0x4
	framePing     = 0x6
	flagAck       = 0x1
	flagEndStream = 0x1
	flagEndHeader = 0x4
)

func frame(kind, flags byte, stream uint32, payload []byte) []byte {
	f := binary.BigEndian.AppendUint32(nil, uint32(len(payload))<<8|uint32(kind))
	return append(binary.BigEndian.AppendUint32(append(f, flags), stream), payload...)
}

// request are a request's headers; without a body they are all of it. Its protocol is the one whose answers end with a message.
func request(method, path string, body bool, more ...[2]string) []byte {
	var block []byte
	for _, h := range append([][2]string{
		{":method", method}, {":scheme", "https"}, {":authority", serviceName}, {":path", path}, {"content-type", "application/connect+proto"},
	}, more...) {
		block = append(append(block, 0, byte(len(h[0]))), h[0]...)
		block = append(append(block, byte(len(h[1]))), h[1]...)
	}
	flags := byte(flagEndHeader | flagEndStream)
	if body {
		flags = flagEndHeader
	}
	return frame(frameHeaders, flags, 1, block)
}

// strangers are who holds connections and has no token, by what they send after the preface.
var strangers = map[string][]byte{
	"silence":                    nil,
	"half of the headers":        frame(frameHeaders, 0, 1, []byte{0x82}),
	"an answer not read":         request("GET", "/nothing", false),
	"a call whose end is unread": request("POST", wire.ReportsConnectProcedure, false),
	"a body that is not sent":    request("POST", wire.ReportsConnectProcedure, true),
	"a body for nothing":         request("POST", "/nothing", true),
}

// deaf are gateways with a token that read nothing, by what they send.
func deaf(t *testing.T, pod figures.Pod) map[string][]byte {
	t.Helper()
	message, err := proto.Marshal(hello(pod))
	must(t, err)
	body := frame(frameData, 0, 1, append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...))
	open := request("POST", wire.ReportsConnectProcedure, true, [2]string{"authorization", "Bearer " + token(pod)})
	return map[string][]byte{
		"no hello":       open,
		"a hello":        slices.Concat(open, body),
		"a second hello": slices.Concat(open, body, body),
	}
}

// stranger is a connection of one. Pings are answered, and answers have no window.
type stranger struct {
	conn net.Conn
	// gone is when its connection was, as long after it began.
	gone atomic.Int64
}

func (w *world) stranger(pod figures.Pod, says []byte) *stranger {
	w.t.Helper()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(w.ca)
	raw, err := w.dialFrom(w.t.Context(), pod, serviceName+":8443")
	must(w.t, err)
	c := tls.Client(raw, &tls.Config{RootCAs: pool, ServerName: serviceName, NextProtos: []string{"h2"}})
	s := &stranger{conn: c}
	began := time.Now()
	go func() {
		defer func() { s.gone.Store(int64(time.Since(began))) }()
		noWindow := frame(frameSettings, 0, 0, []byte{0, 4, 0, 0, 0, 0})
		for _, part := range [][]byte{[]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), noWindow, says} {
			if _, err := c.Write(part); err != nil {
				return
			}
		}
		s.read()
	}()
	return s
}

// read goes on until the connection ends.
func (s *stranger) read() {
	for {
		var head [9]byte
		if _, err := io.ReadFull(s.conn, head[:]); err != nil {
			return
		}
		payload := make([]byte, int(head[0])<<16|int(head[1])<<8|int(head[2]))
		if _, err := io.ReadFull(s.conn, payload); err != nil {
			return
		}
		if head[3] == framePing && head[4]&flagAck == 0 {
			_, _ = s.conn.Write(frame(framePing, flagAck, 0, payload))
		}
	}
}

// TestStrangersConnectionsKeepNoGatewayOut: who has no token holds more connections than there may be, whatever is done on them, and
// takes another whenever one is cut. The gateways that wait for a leader go on to wait, those that have one stay on the connections
// they have, and others come in, from elsewhere and from where the strangers are.
func TestStrangersConnectionsKeepNoGatewayOut(t *testing.T) {
	for name, says := range strangers {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				w := newWorld(t)
				r := w.start("a", coordinator.Bounds{Streams: 16}, nil)
				defer r.kill()
				w.lead("")
				r.setPlan(testPlan("ns", 1))
				theirs := w.pod("strange", "stranger", nil)
				f := &fleet{world: w}
				defer f.leave()
				f.join(theirs)
				time.Sleep(time.Second)
				defer w.siege(theirs, says)()
				w.lead("a")
				f.connected()
				for range 2 {
					f.join(theirs)
					f.connected()
					time.Sleep(45 * time.Second)
				}
				if n := f.dials.Load(); n != int64(len(f.all)) || len(r.Reporting("ns")) != len(f.all) {
					t.Errorf("%d gateways had %d connections, and %d report", len(f.all), n, len(r.Reporting("ns")))
				}
			})
		})
	}
}

// fleet are gateways whose connections are counted.
type fleet struct {
	world *world
	dials atomic.Int64
	all   []*gateway
}

// join adds two gateways, one at its own address and one at the strangers'.
func (f *fleet) join(theirs figures.Pod) {
	for _, beside := range []bool{false, true} {
		pod := f.world.pod("ns", name(len(f.all)), nil)
		f.all = append(f.all, f.world.join(pod, func(g *gateway) {
			g.dial = func(ctx context.Context, _, address string) (net.Conn, error) {
				f.dials.Add(1)
				if beside {
					return f.world.dialFrom(ctx, theirs, address)
				}
				return f.world.dialFrom(ctx, pod, address)
			}
		}))
	}
}

func (f *fleet) connected() {
	for _, g := range f.all {
		eventually(f.world.t, 5*time.Second, "a gateway is let in", g.Connected)
	}
}

func (f *fleet) leave() {
	for _, g := range f.all {
		g.leave()
	}
}

// siege holds forty connections, and dials as often as one is gone, until left.
func (w *world) siege(pod figures.Pod, says []byte) (leave func()) {
	held := make([]*stranger, 40)
	for i := range held {
		held[i] = w.stranger(pod, says)
		synctest.Wait()
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			for i, s := range held {
				if s.gone.Load() != 0 {
					held[i] = w.stranger(pod, says)
				}
			}
			time.Sleep(5 * time.Second)
		}
		for _, s := range held {
			_ = s.conn.Close()
		}
	}()
	return func() { cancel(); <-done }
}

// TestStrangersRequestsEnd: without a token no request lasts, whether its answer is not read or its body not sent, at the leader and
// elsewhere, nor with one that of a gateway which reads nothing; its connection ends when it has been idle.
func TestStrangersRequestsEnd(t *testing.T) {
	pod := figures.Pod{Namespace: "ns", Name: "a", UID: "uid-a"}
	kinds := deaf(t, pod)
	maps.Copy(kinds, strangers)
	for name, says := range kinds {
		for _, leader := range []string{"a", "b", ""} {
			t.Run(fmt.Sprintf("%s, %q leads", name, leader), func(t *testing.T) {
				bubble.Run(t, func(t *testing.T) {
					w := newWorld(t)
					r := w.start("a", coordinator.Bounds{}, nil)
					defer r.kill()
					w.pod("ns", "a", nil)
					w.lead(leader)
					s := w.stranger(pod, says)
					defer func() { _ = s.conn.Close() }()
					time.Sleep(3 * time.Minute)
					// Silence ends a stream after half a minute, its end has ten seconds, and an idle connection has a minute.
					if gone := time.Duration(s.gone.Load()); gone == 0 || gone > 105*time.Second {
						t.Errorf("the connection ended after %v", gone)
					}
				})
			})
		}
	}
}
