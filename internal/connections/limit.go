// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package connections

import (
	"container/list"
	"net"
	"net/http"
	"sync"
)

// Limit has srv, which does not serve yet, keep no more than so many connections.
func Limit(srv *http.Server, most int) {
	b := &bound{most: most, at: map[net.Conn]*list.Element{}}
	srv.ConnState = b.see
}

// bound knows the connections of a server: those with a request under way, and the others by how long they have had none.
type bound struct {
	most int

	mu sync.Mutex
	at map[net.Conn]*list.Element // nil while a request is under way
	// quiet are the others, the one that has been so for longest first.
	quiet list.List
}

// see is http.Server's ConnState. A connection whose headers trickle in is as new as ever to it.
func (b *bound) see(c net.Conn, state http.ConnState) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at, known := b.at[c]
	if !known && state != http.StateNew {
		return // it was cut, and is still told of
	}
	if at != nil {
		b.quiet.Remove(at)
		b.at[c] = nil
	}
	switch state {
	case http.StateActive:
		b.at[c] = nil
	case http.StateNew, http.StateIdle:
		b.at[c] = b.quiet.PushBack(c)
	case http.StateClosed, http.StateHijacked:
		delete(b.at, c)
	}
	for len(b.at) > b.most {
		// Where all have requests it is the one that has just come.
		first := b.quiet.Front()
		if first == nil {
			return
		}
		victim := b.quiet.Remove(first).(net.Conn) //nolint:forcetypeassert // nothing else is in it
		delete(b.at, victim)
		cut(victim)
	}
}

// cut closes a connection without a word: TLS would wait for a peer that does not read.
func cut(c net.Conn) {
	if t, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = t.NetConn()
	}
	_ = c.Close()
}
