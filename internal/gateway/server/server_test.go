// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/logs"
	"github.com/headgate-dev/headgate/internal/testing/bubble"
	"github.com/headgate-dev/headgate/internal/testing/canary"
	"github.com/headgate-dev/headgate/internal/testing/leaks"
)

// shown is what the server logs, in which no key and no prompt may stand.
var (
	shown canary.Watch
	said  = slog.New(logs.Handler(shown.Log("the server's log"), slog.LevelDebug))
)

func TestMain(m *testing.M) { leaks.VerifyTestMain(shown.Over(m)) }

// listenFor starts a server whose calls are counted by busy.
func listenFor(t *testing.T, ctx context.Context, busy *atomic.Int64, last *atomic.Int64) (*Server, <-chan error) {
	t.Helper()
	s, err := Listen(ctx, Options{
		Data:  http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }),
		Admin: http.NotFoundHandler(), DataAddress: "127.0.0.1:0", AdminAddress: "127.0.0.1:0",
		Busy:       func() (int64, time.Time) { return busy.Load(), time.Unix(0, last.Load()) },
		DrainBound: 10 * time.Minute, Log: said,
	})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	return s, done
}

func get(t *testing.T, address string) (int, error) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/", nil)
	if err != nil {
		return 0, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}

// Fault D15: Probes could not reach a port on loopback, or the data port was open to other pods, or localhost was ::1.
// Headgate: Calls are served on both loopback addresses and nowhere else, health on the pod's, the probe is executed in
// the container, and a provider's trouble changes neither.
func TestD15BothLoopbackAddressesServeCalls(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var busy, last atomic.Int64
	s, done := listenFor(t, ctx, &busy, &last)
	_, port, err := net.SplitHostPort(s.DataAddr())
	if err != nil {
		t.Fatal(err)
	}
	if status, err := get(t, s.DataAddr()); status != http.StatusTeapot {
		t.Errorf("127.0.0.1: %d %v", status, err)
	}
	if l, err := net.Listen("tcp", "[::1]:0"); err == nil {
		_ = l.Close()
		if status, err := get(t, net.JoinHostPort("::1", port)); status != http.StatusTeapot {
			t.Errorf("::1: %d %v", status, err)
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestD15OthersReachHealthAndNoCalls: another pod's connection comes to an address that is not the loopback's own.
func TestD15OthersReachHealthAndNoCalls(t *testing.T) {
	s, err := Listen(t.Context(), Options{
		Data:  http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }),
		Admin: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) }), AdminAddress: ":0",
		DataAddress: "127.0.0.1:0", Busy: func() (int64, time.Time) { return 0, time.Time{} }, Log: said,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	hosts := []string{"127.0.0.2"} // as good as a pod's address, and always there
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		if ip, ok := a.(*net.IPNet); ok && ip.IP.IsGlobalUnicast() && !ip.IP.IsLinkLocalUnicast() {
			hosts = append(hosts, ip.IP.String())
		}
	}
	_, data, _ := net.SplitHostPort(s.DataAddr())
	_, admin, _ := net.SplitHostPort(s.AdminAddr())
	for _, host := range hosts {
		if status, err := get(t, net.JoinHostPort(host, data)); err == nil {
			t.Errorf("calls are served at %s: %d", host, status)
		}
		if status, err := get(t, net.JoinHostPort(host, admin)); status != http.StatusAccepted {
			t.Errorf("health at %s: %d %v", host, status, err)
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestB10SlowHeadersAreCut: whoever sends a byte now and then does not hold a connection.
func TestB10SlowHeadersAreCut(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		s := newServer(Options{Data: http.NotFoundHandler(), Admin: http.NotFoundHandler(), Log: said})
		for name, srv := range map[string]*http.Server{"data": s.data, "admin": s.admin} {
			near, far := net.Pipe()
			l := &single{conn: far, done: make(chan struct{})}
			go func() { _ = srv.Serve(l) }()
			start := time.Now()
			var sender sync.WaitGroup
			sender.Go(func() {
				_, err := io.WriteString(near, "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ")
				for ; err == nil; _, err = io.WriteString(near, "x") {
					time.Sleep(time.Second)
				}
			})
			_, _ = io.Copy(io.Discard, near)
			if took := time.Since(start); took < headerTimeout || took > headerTimeout+2*time.Second {
				t.Errorf("%s: cut after %s", name, took)
			}
			_ = near.Close()
			_ = srv.Close()
			sender.Wait()
		}
	})
}

// single is a listener of one connection.
type single struct {
	conn net.Conn
	done chan struct{}
}

func (l *single) Accept() (net.Conn, error) {
	if c := l.conn; c != nil {
		l.conn = nil
		return c, nil
	}
	<-l.done
	return nil, net.ErrClosed
}

func (l *single) Close() error   { close(l.done); return nil }
func (l *single) Addr() net.Addr { return &net.TCPAddr{} }

func TestDrainWaitsForCallsAndEndsSoonWhenIdle(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var busy, last atomic.Int64
	s, done := listenFor(t, ctx, &busy, &last)
	busy.Store(1)
	cancel()
	select {
	case <-done:
		t.Fatal("the drain ended with a call under way")
	case <-time.After(300 * time.Millisecond):
	}
	if status, err := get(t, s.DataAddr()); status != http.StatusTeapot {
		t.Errorf("while draining: %d %v", status, err)
	}
	busy.Store(0)
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(3 * time.Minute):
		t.Fatal("the drain does not end")
	}
	if _, err := get(t, s.DataAddr()); err == nil {
		t.Error("the port still answers")
	}
}
