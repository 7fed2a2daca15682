// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/healthz"
	ctrlwebhook "sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/headgate-dev/headgate/internal/connections"
)

const (
	// maxConnections are many times those of the API servers of a cluster.
	maxConnections = 256
	// maxHeader is a token and what tracing passes on, and some: an API server sends less than 1 KiB, mostly.
	maxHeader = 16 << 10
	// callTimeout is more than an API server waits for an answer of ours, and idleTimeout more than it leaves a connection alone.
	callTimeout = 10 * time.Second
	idleTimeout = 3 * time.Minute
	// drainTime is what calls get to end when the manager stops: the API server asks another replica, or goes on without.
	drainTime = 3 * time.Second
	dialTime  = 5 * time.Second
)

// ServerOptions say how webhooks are served.
type ServerOptions struct {
	// Address is HOST:PORT; no host is all addresses.
	Address string
	// Certificate is asked at each handshake.
	Certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)
	Log         *slog.Logger
}

// Server serves webhooks. All of a cluster's pods reach its port, and no API server shows who it is: so connections, the time of
// a call and the bodies that are held at once are bounded, and of what is too much goes first what has been there for longest.
type Server struct {
	// Server registers handlers; it never listens.
	ctrlwebhook.Server
	opts    ServerOptions
	bodies  *allowance
	started atomic.Bool
}

var _ ctrlwebhook.Server = (*Server)(nil)

// NewServer returns a server that does not listen yet.
func NewServer(opts ServerOptions) *Server {
	library := ctrlwebhook.NewServer(ctrlwebhook.Options{WebhookMux: http.NewServeMux()})
	return &Server{Server: library, opts: opts, bodies: newAllowance(maxBodies)}
}

// Start serves until ctx ends.
func (s *Server) Start(ctx context.Context) error {
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", s.opts.Address)
	if err != nil {
		return fmt.Errorf("listen for webhooks: %w", err)
	}
	return s.serve(ctx, listener)
}

func (s *Server) serve(ctx context.Context, listener net.Listener) error {
	s.started.Store(true)
	if err := connections.ServeTLS(ctx, s.httpServer(ctx), listener, drainTime); err != nil {
		return fmt.Errorf("serve webhooks: %w", err)
	}
	return nil
}

// httpServer speaks HTTP/1.1 alone, as API servers do to webhooks, so that a connection is one call at a time: of HTTP/2 each would
// hold the headers and the bodies of a hundred.
func (s *Server) httpServer(ctx context.Context) *http.Server {
	speaks := &http.Protocols{}
	speaks.SetHTTP1(true)
	srv := &http.Server{
		Handler:           s.bodies.bound(s.WebhookMux()),
		BaseContext:       func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
		Protocols:         speaks,
		TLSConfig:         &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: s.opts.Certificate},
		ReadHeaderTimeout: callTimeout, ReadTimeout: callTimeout, WriteTimeout: callTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(s.opts.Log.Handler(), slog.LevelDebug),
	}
	connections.Limit(srv, maxConnections)
	return srv
}

var errNotStarted = errors.New("the webhooks are not served yet")

// StartedChecker says whether a connection is taken.
func (s *Server) StartedChecker() healthz.Checker {
	return func(req *http.Request) error {
		if !s.started.Load() {
			return errNotStarted
		}
		ctx, cancel := context.WithTimeout(req.Context(), dialTime)
		defer cancel()
		d := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // G402: it asks itself whether it answers, and nothing else
		conn, err := d.DialContext(ctx, "tcp", s.opts.Address)
		if err != nil {
			return fmt.Errorf("the webhooks are not reached: %w", err)
		}
		return conn.Close()
	}
}

// AddressOf is the address of all interfaces at a port.
func AddressOf(port int) string { return net.JoinHostPort("", strconv.Itoa(port)) }
