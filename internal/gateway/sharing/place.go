// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/admission"
)

// where says where a call is.
type where uint8

const (
	// away: it was decided, and holds nothing.
	away where = iota
	// aside: it waits to be granted by the pool.
	aside
	// queued: it waits at the gate.
	queued
	// holding: it was admitted.
	holding
)

// place is what a member keeps of a ticket, from Enter until it is released.
type place struct {
	prev, next *place
	ticket     *admission.Ticket
	where      where
	lane       int
	// costs are what it takes of each limit, at most what the limit can ever have.
	costs []float64
	// beside are limits of calls in flight that an edit removed, of which it still holds a slot.
	beside []string
	// large calls are granted as a whole; listed says that it is among its lane's.
	large, listed bool

	// number is a large call's at the pool, 0 until it is asked for.
	number uint64
	// again says that it was sent before, and is not to be before a time.
	again     bool
	notBefore time.Time
	// by is when it must have been decided that waits aside; zero is never.
	by time.Time
	// tried says that the pool is to be heard about it before it counts as accepted.
	tried bool
	// refusal is what it is told if it is not.
	refusal admission.Verdict
	// gone is a shadow call that has gone in fact, and waits for when it would have; late is its settlement, while aside.
	gone bool
	late *admission.Settlement
	// told is set once what waited aside was decided there.
	told bool
}

// places are the live ones, in the order in which they came, and some that are free.
type places struct {
	head place // of the ring
	n    int
	free []*place
}

// maxFree bounds what is kept for the next calls.
const maxFree = 256

func (l *places) init() { l.head.next, l.head.prev = &l.head, &l.head }

// add returns a new place at the end.
func (l *places) add(t *admission.Ticket) *place {
	var p *place
	if n := len(l.free); n > 0 {
		p, l.free[n-1] = l.free[n-1], nil
		l.free = l.free[:n-1]
	} else {
		p = &place{}
	}
	p.ticket = t
	p.prev, p.next = l.head.prev, &l.head
	p.prev.next, l.head.prev = p, p
	l.n++
	return p
}

// remove forgets a place.
func (l *places) remove(p *place) {
	p.prev.next, p.next.prev = p.next, p.prev
	l.n--
	if p.ticket.Place == p {
		p.ticket.Place = nil
	}
	*p = place{costs: p.costs[:0]}
	if len(l.free) < maxFree {
		l.free = append(l.free, p)
	}
}

// each calls do with every place; do removes none.
func (l *places) each(do func(*place)) {
	for p := l.head.next; p != &l.head; p = p.next {
		do(p)
	}
}
