// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

const (
	readHeaderTimeout = 10 * time.Second
	// shutdownTimeout is how long calls in flight may still take after a signal.
	shutdownTimeout = 5 * time.Second
)

// serve listens and answers until ctx ends.
func serve(ctx context.Context, o *options, log *slog.Logger) error {
	provider := fakeprovider.New(o.provider)
	if err := provider.Inject(o.faults...); err != nil {
		return err
	}
	server := newServer(provider)
	listeners, err := o.listeners(ctx, server)
	if err != nil {
		return err
	}
	failed := make(chan error, len(listeners))
	for _, l := range listeners {
		log.Info("listening", "address", l.Addr().String(), "tls", l.secure)
		go func() { failed <- l.serve(server) }()
	}
	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	return errors.Join(err, shutDown(context.WithoutCancel(ctx), server))
}

func newServer(h http.Handler) *http.Server {
	protocols := &http.Protocols{}
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{Handler: h, ReadHeaderTimeout: readHeaderTimeout, Protocols: protocols}
}

func shutDown(ctx context.Context, server *http.Server) error {
	ctx, cancel := context.WithTimeout(ctx, shutdownTimeout)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		return server.Close() // calls that hang by script are cut
	}
	return nil
}

// listener is a socket, and whether TLS is spoken on it.
type listener struct {
	net.Listener
	secure bool
}

func (l listener) serve(server *http.Server) error {
	var err error
	if l.secure {
		err = server.ServeTLS(l.Listener, "", "")
	} else {
		err = server.Serve(l.Listener)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serve %s: %w", l.Addr(), err)
}

func (o *options) listeners(ctx context.Context, server *http.Server) ([]listener, error) {
	var out []listener
	var config net.ListenConfig
	for _, want := range []struct {
		address string
		secure  bool
	}{{o.listen, false}, {o.listenTLS, true}} {
		if want.address == "" {
			continue
		}
		if want.secure {
			cert, err := o.certificate()
			if err != nil {
				return nil, err
			}
			server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
		}
		l, err := config.Listen(ctx, "tcp", want.address)
		if err != nil {
			return nil, err
		}
		out = append(out, listener{l, want.secure})
	}
	return out, nil
}
