// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator

import (
	"context"
	"net"
	"slices"
	"sync"
)

// turns bound the reviews of tokens at a time. Whoever comes to the port may bring a token that is none, so who waits is let
// in by the addresses that they come from, one of each after another: as many as come from one hold up those of that one only.
type turns struct {
	mu   sync.Mutex
	free int
	// longest is how many of one address may wait.
	longest int
	// waiting are those that wait, by their address, and order the addresses, whose turn is next first.
	waiting map[string][]chan struct{}
	order   []string
}

func newTurns(atOnce, longest int) *turns {
	return &turns{free: atOnce, longest: longest, waiting: map[string][]chan struct{}{}}
}

// take waits for a turn, which is to be given back.
func (t *turns) take(ctx context.Context, from string) error {
	mine, err := t.enqueue(from)
	if mine == nil {
		return err
	}
	select {
	case <-mine:
		return nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	line := t.waiting[from]
	if i := slices.Index(line, mine); i >= 0 {
		t.rest(from, slices.Delete(line, i, i+1))
	} else {
		t.pass() // it came at this moment
	}
	return errBusy
}

// enqueue returns nil where a turn is free.
func (t *turns) enqueue(from string) (chan struct{}, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.free > 0 {
		t.free--
		return nil, nil
	}
	line := t.waiting[from]
	if len(line) >= t.longest {
		return nil, errBusy
	}
	if len(line) == 0 {
		t.order = append(t.order, from)
	}
	mine := make(chan struct{})
	t.waiting[from] = append(line, mine)
	return mine, nil
}

// give gives a turn back.
func (t *turns) give() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pass()
}

// pass gives a turn to whose it is next; mu is held.
func (t *turns) pass() {
	if len(t.order) == 0 {
		t.free++
		return
	}
	from := t.order[0]
	line := t.waiting[from]
	close(line[0])
	t.order = append(t.order[1:], from)
	t.rest(from, line[1:])
}

// rest is who still waits of an address; mu is held.
func (t *turns) rest(from string, line []chan struct{}) {
	if len(line) > 0 {
		t.waiting[from] = line
		return
	}
	delete(t.waiting, from)
	i := slices.Index(t.order, from)
	t.order = slices.Delete(t.order, i, i+1)
}

// host is the address without the port, which is another for each connection.
func host(address string) string {
	if h, _, err := net.SplitHostPort(address); err == nil {
		return h
	}
	return address
}
