// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package connections

import (
	"container/list"
	"net"
)

// conn is one connection.
type conn struct {
	net.Conn
	from string
	// asks: a request is under way on it.
	asks bool
	// keepers are how many keep it.
	keepers int
	// since is the turn at which it began to ask, or to be without a request.
	since uint64
	// at is its place in its address's line, nil where it is kept.
	at *list.Element
}

// host is one address's connections that may be cut: those that ask, and those that do not, each in the order in which they began.
type host struct{ asking, quiet list.List }

func (h *host) line(of *conn) *list.List {
	if of.asks {
		return &h.asking
	}
	return &h.quiet
}

func (h *host) len() int { return h.asking.Len() + h.quiet.Len() }

// first is the one that goes first: of what there is more of, the one that has been so for longest. So those that ask nothing do
// not cut those that ask, and those that ask without end leave who has just come the time to ask.
func (h *host) first() *conn {
	asking, quiet := front(&h.asking), front(&h.quiet)
	switch more := h.asking.Len() - h.quiet.Len(); {
	case more > 0:
		return asking
	case more < 0 || asking.since > quiet.since:
		return quiet
	}
	return asking
}

func front(line *list.List) *conn {
	if line.Len() == 0 {
		return nil
	}
	return line.Front().Value.(*conn) //nolint:forcetypeassert // nothing else is in it
}

// victim is the one that goes first of all: of the address that has most, and where they are even, the one that has been as it is
// for longest. It looks at all addresses that have a connection that may be cut, and only where there are too many.
func (b *bound) victim() *conn {
	var worst *host
	for _, h := range b.hosts {
		if worst == nil || h.len() > worst.len() || h.len() == worst.len() && h.first().since < worst.first().since {
			worst = h
		}
	}
	if worst == nil {
		return nil
	}
	return worst.first()
}

// enter puts a connection at the end of its line, unless it is kept; mu is held.
func (b *bound) enter(of *conn) {
	if of.keepers > 0 {
		return
	}
	h := b.hosts[of.from]
	if h == nil {
		h = &host{}
		b.hosts[of.from] = h
	}
	b.turn++
	of.since = b.turn
	of.at = h.line(of).PushBack(of)
}

// leave takes it out of its line; mu is held.
func (b *bound) leave(of *conn) {
	if of.at == nil {
		return
	}
	h := b.hosts[of.from]
	h.line(of).Remove(of.at)
	of.at = nil
	if h.len() == 0 {
		delete(b.hosts, of.from)
	}
}

// hostOf is the address that a connection comes from, without the port, which is another for each.
func hostOf(c net.Conn) string {
	address := c.RemoteAddr().String()
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}
