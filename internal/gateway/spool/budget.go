// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"errors"
	"sync"
)

// ErrOverBudget says that the gateway has no memory left for a body: a matter of waiting, not of size.
var ErrOverBudget = errors.New("the gateway's memory budget for request bodies is used up")

// Budget is a first-come-first-served share of memory.
type Budget struct {
	mu      sync.Mutex
	total   int64
	used    int64
	waiters []*waiter
}

type waiter struct {
	need  int64
	ready chan struct{}
}

// NewBudget returns a budget of total bytes.
func NewBudget(total int64) *Budget { return &Budget{total: total} }

// Total is the number of bytes there are.
func (b *Budget) Total() int64 { return b.total }

// Used is the number of bytes taken now.
func (b *Budget) Used() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// tryTake takes n bytes if they are there now. Small bodies pass large ones that wait: they are
// bounded by the waiters' own patience, and a chat call must not wait for somebody's 32 MiB.
func (b *Budget) tryTake(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used+n > b.total {
		return false
	}
	b.used += n
	return true
}

// take waits for n bytes until ctx ends.
func (b *Budget) take(ctx context.Context, n int64) error {
	if n > b.total {
		return ErrOverBudget
	}
	if b.tryTake(n) {
		return nil
	}
	w := &waiter{need: n, ready: make(chan struct{})}
	b.mu.Lock()
	b.waiters = append(b.waiters, w)
	b.wakeLocked()
	b.mu.Unlock()
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
		return b.leave(w)
	}
}

// leave takes w out of the line; where it was served meanwhile its bytes go back.
func (b *Budget) leave(w *waiter) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, other := range b.waiters {
		if other == w {
			b.waiters = append(b.waiters[:i], b.waiters[i+1:]...)
			b.wakeLocked() // a smaller one behind it may fit
			return ErrOverBudget
		}
	}
	b.used -= w.need
	b.wakeLocked()
	return ErrOverBudget
}

func (b *Budget) give(n int64) {
	if n == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= n
	b.wakeLocked()
}

// wakeLocked serves waiters in order; mu is held.
func (b *Budget) wakeLocked() {
	for len(b.waiters) > 0 && b.used+b.waiters[0].need <= b.total {
		w := b.waiters[0]
		b.waiters = b.waiters[1:]
		b.used += w.need
		close(w.ready)
	}
}
