// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// listenFor starts a server whose calls are counted by busy.
func listenFor(t *testing.T, ctx context.Context, busy *atomic.Int64, last *atomic.Int64) (*Server, <-chan error) {
	t.Helper()
	s, err := Listen(ctx, Options{
		Data:  http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }),
		Admin: http.NotFoundHandler(), DataAddress: "127.0.0.1:0", AdminAddress: "127.0.0.1:0",
		Busy:       func() (int64, time.Time) { return busy.Load(), time.Unix(0, last.Load()) },
		DrainBound: 10 * time.Second, Log: slog.New(slog.DiscardHandler),
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
	case <-time.After(5 * time.Second):
		t.Fatal("the drain does not end")
	}
	if _, err := get(t, s.DataAddr()); err == nil {
		t.Error("the port still answers")
	}
}
