// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package connections

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"
)

// ServeTLS serves until ctx ends, and then until calls under way have ended, but no longer than that. Nil is such an end.
//
// The goodbyes of TLS are written one after the other and wait five seconds each for a peer that reads nothing: when the time is
// over, what is left is closed without one.
func ServeTLS(ctx context.Context, srv *http.Server, from net.Listener, drain time.Duration) error {
	all := &wires{Listener: from, open: map[*wire]struct{}{}}
	done := make(chan error, 1)
	go func() { done <- srv.ServeTLS(all, "", "") }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	defer context.AfterFunc(stop, all.cut)()
	err := srv.Shutdown(stop)
	if errors.Is(err, context.DeadlineExceeded) {
		err = nil
	}
	all.cut()
	return errors.Join(err, srv.Close())
}

// wires are the server's ends of the connections of a listener, below TLS.
type wires struct {
	net.Listener

	mu   sync.Mutex
	open map[*wire]struct{}
}

// Accept takes a connection in.
func (w *wires) Accept() (net.Conn, error) {
	c, err := w.Listener.Accept()
	if err != nil {
		return nil, err
	}
	one := &wire{Conn: c, of: w}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open[one] = struct{}{}
	return one, nil
}

// cut closes all that are open.
func (w *wires) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for one := range w.open {
		_ = one.Conn.Close()
	}
	clear(w.open)
}

// wire is one of them.
type wire struct {
	net.Conn
	of *wires
}

// Close forgets it.
func (w *wire) Close() error {
	w.of.mu.Lock()
	delete(w.of.open, w)
	w.of.mu.Unlock()
	return w.Conn.Close()
}
