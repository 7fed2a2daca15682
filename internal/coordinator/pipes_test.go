// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator_test

import (
	"context"
	"errors"
	"net"
	"sync"

	"github.com/headgate-dev/headgate/internal/figures"
)

// pipes is a listener in memory.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
	mu    sync.Mutex
	open  []end
}

// end is one end of a connection, by the pod it is from.
type end struct {
	net.Conn
	pod figures.Pod
}

// from is the server's end, whose address is the pod's.
type from struct {
	net.Conn
	pod figures.Pod
}

// RemoteAddr implements net.Conn.
func (f from) RemoteAddr() net.Addr { return podAddr(f.pod.Namespace + "." + f.pod.Name + ":1") }

type podAddr string

func (podAddr) Network() string  { return "pipe" }
func (a podAddr) String() string { return string(a) }

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), done: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error { p.once.Do(func() { close(p.done) }); return nil }

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipes) dial(ctx context.Context, pod figures.Pod) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.conns <- from{server, pod}:
		p.mu.Lock()
		p.open = append(p.open, end{client, pod}, end{server, pod})
		p.mu.Unlock()
		return client, nil
	case <-p.done:
		return nil, errors.New("connection refused")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// cut breaks every connection.
func (p *pipes) cut() { p.cutThose(func(figures.Pod) bool { return true }) }

func (p *pipes) cutOne(pod figures.Pod) { p.cutThose(func(of figures.Pod) bool { return of == pod }) }

func (p *pipes) cutThose(which func(figures.Pod) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.open {
		if which(c.pod) {
			_ = c.Close()
		}
	}
}
