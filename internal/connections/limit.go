// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package connections

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// Limit has srv, which does not serve yet, keep no more than so many connections.
func Limit(srv *http.Server, most int) {
	b := newBound(most)
	srv.ConnState = b.see
	srv.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, keeperKey{}, func() func() { return b.keep(c) })
	}
}

type keeperKey struct{}

// Keep has the connection of a request, whose context this is, not be cut until it is released. It is for who is known, and to
// be bounded by its caller: what is kept leaves others the less.
func Keep(ctx context.Context) (release func()) {
	keep, ok := ctx.Value(keeperKey{}).(func() func())
	if !ok {
		return func() {}
	}
	return keep()
}

// bound knows the connections of a server.
type bound struct {
	most int

	mu    sync.Mutex
	all   map[net.Conn]*conn
	hosts map[string]*host
	// turn counts what was seen, so that it is known what was before what.
	turn uint64
}

func newBound(most int) *bound {
	return &bound{most: most, all: map[net.Conn]*conn{}, hosts: map[string]*host{}}
}

// see is http.Server's ConnState. A connection whose headers trickle in is as new as ever to it.
func (b *bound) see(c net.Conn, state http.ConnState) {
	b.mu.Lock()
	defer b.mu.Unlock()
	of, known := b.all[c]
	switch {
	case state == http.StateNew:
		of = &conn{Conn: c, from: hostOf(c)}
		b.all[c] = of
	case !known:
		return // it was cut, and is still told of
	}
	b.leave(of)
	if state == http.StateClosed || state == http.StateHijacked {
		delete(b.all, c)
		return
	}
	of.asks = state == http.StateActive
	b.enter(of)
	b.shrink()
}

// shrink cuts what is too many; mu is held.
func (b *bound) shrink() {
	for len(b.all) > b.most {
		victim := b.victim()
		if victim == nil {
			return
		}
		b.leave(victim)
		delete(b.all, victim.Conn)
		cut(victim.Conn)
	}
}

// keep takes a connection from those that may be cut, until it is released.
func (b *bound) keep(c net.Conn) (release func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	of, known := b.all[c]
	if !known {
		return func() {}
	}
	b.leave(of)
	of.keepers++
	return sync.OnceFunc(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if of.keepers--; b.all[c] == of {
			b.enter(of)
		}
	})
}

// cut closes a connection without a word: TLS would wait for a peer that does not read.
func cut(c net.Conn) {
	if t, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = t.NetConn()
	}
	_ = c.Close()
}
