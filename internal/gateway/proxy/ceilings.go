// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
)

// passing are the refusals of admission that waiting cures: behind a wait above the ceiling they are due to it.
var passing = map[string]bool{
	string(budget.ReasonDeadline): true, string(budget.ReasonQueueExpired): true, string(budget.ReasonQueueFull): true,
}

// ceilings are the waits above a route's ceiling that its provider has stated, by account, until they are over.
type ceilings struct {
	// stated counts them, so that a route without any costs no lock.
	stated atomic.Int32

	mu    sync.Mutex
	waits map[admission.Account]stated
}

// stated is such a wait: until when it stands, and how large the call was that was told so.
type stated struct {
	until, at time.Time
	size      float64
}

// set keeps a wait. Those that are over make room, then the one that is over first.
func (c *ceilings) set(a admission.Account, size float64, until, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waits == nil {
		c.waits = map[admission.Account]stated{}
	}
	c.waits[a] = stated{until, now, size}
	for other, s := range c.waits {
		if !s.until.After(now) {
			delete(c.waits, other)
		}
	}
	if len(c.waits) > maxMarks {
		c.dropFirstLocked()
	}
	c.stated.Store(int32(len(c.waits)))
}

func (c *ceilings) dropFirstLocked() {
	var first admission.Account
	var at time.Time
	for a, s := range c.waits {
		if at.IsZero() || s.until.Before(at) {
			first, at = a, s.until
		}
	}
	delete(c.waits, first)
}

// stands says whether a wait that was stated for the account is not over.
func (c *ceilings) stands(a admission.Account, now time.Time) bool { return c.left(a, now) > 0 }

// left is what is left of the wait that was stated for the account.
func (c *ceilings) left(a admission.Account, now time.Time) time.Duration {
	if c.stated.Load() == 0 {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return max(c.waits[a].until.Sub(now), 0)
}

// answered takes a call of some size that the provider has let pass: a wait that was stated before for one no larger is over.
func (c *ceilings) answered(a admission.Account, size float64, sent time.Time) {
	if c.stated.Load() == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, ok := c.waits[a]; ok && s.size <= size && sent.After(s.at) {
		delete(c.waits, a)
		c.stated.Store(int32(len(c.waits)))
	}
}
