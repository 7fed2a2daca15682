// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package redisserver

import (
	"net"
	"sync"
	"testing"
	"time"
)

// Link is a way to a server that can be cut, or made slow.
type Link struct {
	// Address is where it begins.
	Address string
	to      string
	mu      sync.Mutex
	severed bool
	delay   time.Duration
	conns   map[net.Conn]bool
	ended   chan struct{}
}

// NewLink returns a way to an address.
func NewLink(t *testing.T, to string) *Link {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &Link{Address: listener.Addr().String(), to: to, conns: map[net.Conn]bool{}, ended: make(chan struct{})}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() { l.pass(from) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		close(l.ended)
		l.Cut(true)
		all.Wait()
	})
	return l
}

// Cut severs all connections and refuses new ones, or no longer.
func (l *Link) Cut(yes bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.severed = yes
	for c := range l.conns {
		if yes {
			_ = c.Close()
		}
	}
}

// Delay has all that is said by the server from now on come so much later.
func (l *Link) Delay(by time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.delay = by
}

// keep notes a connection; false while the link is cut.
func (l *Link) keep(c net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns[c] = true
	return !l.severed
}

func (l *Link) pass(from net.Conn) {
	defer func() { _ = from.Close() }()
	to, err := net.Dial("tcp", l.to)
	if err != nil {
		return
	}
	defer func() { _ = to.Close() }()
	if !l.keep(from) || !l.keep(to) {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { l.carry(to, from, false) })
	both.Go(func() { l.carry(from, to, true) })
	both.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, from)
	delete(l.conns, to)
}

// carry brings what one says to the other, until either ends.
func (l *Link) carry(to, from net.Conn, late bool) {
	defer func() { _, _ = to.Close(), from.Close() }()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		l.mu.Lock()
		delay := l.delay
		l.mu.Unlock()
		if late && delay > 0 {
			select {
			case <-time.After(delay):
			case <-l.ended:
				return
			}
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}
