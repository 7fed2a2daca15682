// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/headgate-dev/headgate/internal/connections"
)

const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 5 * time.Minute
	maxHeader     = 256 << 10
)

// Options configure the listeners.
type Options struct {
	// Data serves calls, Admin metrics and health.
	Data, Admin http.Handler
	// DataAddress and AdminAddress are host:port.
	DataAddress, AdminAddress string
	// Busy reports the calls under way and when the last one came.
	Busy func() (calls int64, last time.Time)
	// Away reports how many of them wait for their clients' bodies or for their providers: the end of a drain waits for the
	// answers of the others, for a moment. Without it that is all of them.
	Away func() int64
	// DrainBound bounds the time after the signal to end.
	DrainBound time.Duration
	// Draining, if set, is told when the drain begins until when it lasts at most.
	Draining func(until time.Time)
	Log      *slog.Logger
}

// Server is a gateway's listeners.
type Server struct {
	opts      Options
	data      *http.Server
	admin     *http.Server
	listeners []net.Listener
	failed    chan error
	answering answering
}

// Listen opens all listeners. Where the data address is the IPv4 loopback address, the IPv6 one is opened
// too if there is one: apps say localhost and mean either.
func Listen(ctx context.Context, opts Options) (*Server, error) {
	s := newServer(opts)
	if err := s.open(ctx, s.data, opts.DataAddress); err != nil {
		return nil, err
	}
	if host, port, err := net.SplitHostPort(s.DataAddr()); err == nil && host == "127.0.0.1" {
		// A pod without IPv6 has no ::1: that is no fault.
		_ = s.open(ctx, s.data, net.JoinHostPort("::1", port))
	}
	if opts.AdminAddress != "" {
		if err := s.open(ctx, s.admin, opts.AdminAddress); err != nil {
			s.close()
			return nil, err
		}
	}
	return s, nil
}

// newServer is a server that does not listen yet.
func newServer(opts Options) *Server {
	s := &Server{opts: opts, failed: make(chan error, 4)}
	errorLog := slog.NewLogLogger(opts.Log.Handler(), slog.LevelDebug)
	s.data = &http.Server{
		Handler: guarded(opts.Data, opts.Log), ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: errorLog, ConnState: s.answering.note,
	}
	s.admin = connections.Pages(guarded(opts.Admin, opts.Log), errorLog)
	return s
}

func (s *Server) open(ctx context.Context, srv *http.Server, address string) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	s.listeners = append(s.listeners, l)
	go func() {
		if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.failed <- err
		}
	}()
	return nil
}

// DataAddr is the address calls are served on.
func (s *Server) DataAddr() string { return s.listeners[0].Addr().String() }

// AdminAddr is the address of metrics and health.
func (s *Server) AdminAddr() string { return s.listeners[len(s.listeners)-1].Addr().String() }

// Run serves until ctx ends and the drain is over, or a listener fails.
func (s *Server) Run(ctx context.Context) error {
	defer s.close()
	select {
	case err := <-s.failed:
		return err
	case <-ctx.Done():
	}
	s.drain()
	return nil
}

func (s *Server) close() {
	_ = s.data.Close()
	_ = s.admin.Close()
	for _, l := range s.listeners {
		_ = l.Close()
	}
}
