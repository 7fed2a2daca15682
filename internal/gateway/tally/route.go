// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package tally

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/headgate-dev/headgate/internal/wire"
)

// Bounds on what is kept.
const (
	maxLanes   = 32
	maxModels  = 20
	maxReasons = 32
	// Other is the label of what exceeds a bound.
	Other = "other"
	// maxAttempts is the last bucket of the attempts' histogram.
	maxAttempts = 10
)

// Route counts one route's calls.
type Route struct {
	Calls                atomic.Uint64 // that left at least once
	Sends                atomic.Uint64
	Successes            atomic.Uint64
	TooManyRequests      atomic.Uint64
	Overloads            atomic.Uint64
	Unguided             atomic.Uint64
	TransientErrors      atomic.Uint64
	PermanentErrors      atomic.Uint64
	QuotaExhausted       atomic.Uint64
	TooLarge             atomic.Uint64
	LargestTooLarge      atomic.Uint64
	EstimatedSettlements atomic.Uint64
	TruncatedStreams     atomic.Uint64
	NotReplayable        atomic.Uint64
	// FailedOver counts the calls that another route answered.
	FailedOver atomic.Uint64
	// InvalidDeadlines counts the calls whose Headgate-Deadline is no duration.
	InvalidDeadlines   atomic.Uint64
	LastCallUnixMillis atomic.Int64

	attempts [maxAttempts + 1]atomic.Uint64

	mu        sync.Mutex
	lanes     map[string]*Lane
	models    map[string]*Tokens
	missing   map[string]uint64
	stacked   map[string]uint64
	failovers map[Failover]uint64
}

// NewRoute returns a route without calls.
func NewRoute() *Route {
	return &Route{
		lanes: map[string]*Lane{}, models: map[string]*Tokens{}, missing: map[string]uint64{}, stacked: map[string]uint64{},
		failovers: map[Failover]uint64{},
	}
}

// Lane returns the lane called name, the same for the same name. Lanes beyond the bound, which only many
// renamings could make, share one.
func (r *Route) Lane(name string) *Lane {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l, ok := r.lanes[name]; ok {
		return l
	}
	if len(r.lanes) >= maxLanes {
		name = Other
		if l, ok := r.lanes[name]; ok {
			return l
		}
	}
	l := newLane(name)
	r.lanes[name] = l
	return l
}

// Lanes returns all lanes by name.
func (r *Route) Lanes() []*Lane {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]*Lane, 0, len(r.lanes))
	for _, l := range r.lanes {
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b *Lane) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Sent counts one send, and the call with its first.
func (r *Route) Sent(attempt int, now time.Time) {
	r.Sends.Add(1)
	if attempt == 1 {
		r.Calls.Add(1)
	}
	r.LastCallUnixMillis.Store(now.UnixMilli())
}

// Used says whether any call has ended.
func (r *Route) Used() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.lanes {
		if l.used() {
			return true
		}
	}
	return false
}

// Finished counts a call's number of sends.
func (r *Route) Finished(sends int) {
	if sends > 0 {
		r.attempts[min(sends, maxAttempts)].Add(1)
	}
}

// Attempts are the finished calls by their number of sends; the last counts all above.
func (r *Route) Attempts() []uint64 {
	out := make([]uint64, len(r.attempts))
	for i := range r.attempts {
		out[i] = r.attempts[i].Load()
	}
	return out
}

// Missing counts a refusal whose guidance is missing or could not be read; reason is a header's name.
func (r *Route) Missing(reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.missing[reason]; !ok && len(r.missing) >= maxReasons {
		reason = Other
	}
	r.missing[reason]++
}

// Stacked counts a call that is an SDK's own retry; sdk is of a closed set.
func (r *Route) Stacked(sdk string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.stacked[sdk]; !ok && len(r.stacked) >= len(wire.SDKs) {
		sdk = wire.SDKOther
	}
	r.stacked[sdk]++
}

// StackedBySDK copies the counts.
func (r *Route) StackedBySDK() map[string]uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.stacked)
}

// MissingByReason copies the counts.
func (r *Route) MissingByReason() map[string]uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.missing)
}
