// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package deferred

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"

	"github.com/headgate-dev/headgate/internal/gateway/deferred/callback"
	"github.com/headgate-dev/headgate/internal/gateway/proxy"
	"github.com/headgate-dev/headgate/internal/plan"
)

// errNotOpen says that the store could not be opened yet.
var errNotOpen = errors.New("the store of deferred calls is not open")

// Slot stands for a queue whose store may not be there yet: calls are declined until it is.
type Slot struct{ queue atomic.Pointer[Queue] }

var _ proxy.Deferrals = (*Slot)(nil)

// Set puts the queue in.
func (s *Slot) Set(q *Queue) { s.queue.Store(q) }

// CheckCallback implements proxy.Deferrals.
func (s *Slot) CheckCallback(url string, hosts []string) error { return callback.Check(url, hosts) }

// Take implements proxy.Deferrals.
func (s *Slot) Take(ctx context.Context, l *proxy.Later, bounds *plan.Deferred) (*proxy.Promise, error) {
	if q := s.queue.Load(); q != nil {
		return q.Take(ctx, l, bounds)
	}
	return nil, errNotOpen
}

// Counts implements proxy.Deferrals.
func (s *Slot) Counts(policy, route string) proxy.DeferredCounts {
	if q := s.queue.Load(); q != nil {
		return q.Counts(policy, route)
	}
	return proxy.DeferredCounts{}
}

// ServeHTTP implements proxy.Deferrals.
func (s *Slot) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if q := s.queue.Load(); q != nil {
		q.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Retry-After", "5")
	problem(w, http.StatusServiceUnavailable, "headgate_store", errNotOpen.Error()+".")
}
