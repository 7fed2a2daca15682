// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"sync"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
)

// unattended are the calls of a route that wait to be sent, without a caller who waits for them.
type unattended struct {
	mu      sync.Mutex
	waiting map[*caller]bool
}

func (u *unattended) add(c *caller) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.waiting == nil {
		u.waiting = map[*caller]bool{}
	}
	u.waiting[c] = true
}

// remove reports whether c still waited.
func (u *unattended) remove(c *caller) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	waited := u.waiting[c]
	delete(u.waiting, c)
	return waited
}

// dismiss has every call that waits give way, and returns them.
func (u *unattended) dismiss() []*caller {
	u.mu.Lock()
	defer u.mu.Unlock()
	out := make([]*caller, 0, len(u.waiting))
	for c := range u.waiting {
		c.gaveWay.Store(true)
		c.cancel()
		out = append(out, c)
	}
	clear(u.waiting)
	return out
}

// makesRoom sends the calls without callers out of the route's queues where they may be why a call with a caller is
// refused, and says whether that is worth asking the gate again.
func (c *call) makesRoom(v admission.Verdict) bool {
	if v.State != budget.Refused || c.later != nil {
		return false
	}
	switch v.Reason {
	case budget.ReasonDeadline, budget.ReasonQueueFull, budget.ReasonLanePaused:
	default:
		return false
	}
	gone := c.cfg.unattended.dismiss()
	for _, other := range gone {
		if !left(c.r.Context(), other) {
			return false
		}
	}
	return len(gone) > 0
}

// left waits until a call that was told to has left its queue, which takes it no longer than to be run.
func left(ctx context.Context, other *caller) bool {
	select {
	case <-other.done:
		return true
	case <-ctx.Done():
		return false
	}
}
