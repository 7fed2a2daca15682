// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"sync"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// The states of a route's provider, as reports name them.
const (
	stateHealthy    = "Healthy"
	stateIdle       = "Idle"
	stateThrottling = "Throttling"
	stateOverloaded = "Overloaded"
	stateQuota      = "QuotaExhausted"
)

const (
	// stateHolds is how long a refusal colours the state.
	stateHolds = time.Minute
	// idleAfter is when a route without calls is idle.
	idleAfter = 5 * time.Minute
	// callWeight weighs a new sample of the time an attempt needs.
	callWeight = 0.1
)

// health is what a provider showed last.
type health struct {
	mu         sync.Mutex
	throttled  time.Time
	overloaded time.Time
	message    string
	callTime   time.Duration
}

// took learns how long an attempt needs until its response begins.
func (h *health) took(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.callTime == 0 {
		h.callTime = d
		return
	}
	h.callTime += time.Duration(callWeight * float64(d-h.callTime))
}

// attemptTime is what an attempt is expected to need, at most a quarter of patience: an estimate must not
// decline what the caller could still get.
func (h *health) attemptTime(patience time.Duration) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return min(h.callTime, patience/4)
}

// failed notes a refusal.
func (h *health) failed(class dialect.Class, message string, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch class {
	case dialect.ClassThrottle:
		h.throttled = now
	case dialect.ClassOverload:
		h.overloaded = now
	case dialect.ClassQuota:
	default:
		return
	}
	h.message = message
}

// state names the state, and gives the provider's own words where it is not healthy.
func (r *route) state(now time.Time) (state, message string, reset time.Time) {
	exhausted, until := r.quotas.any()
	last := time.UnixMilli(r.tally.LastCallUnixMillis.Load())
	r.health.mu.Lock()
	defer r.health.mu.Unlock()
	switch {
	case exhausted:
		return stateQuota, r.health.message, until
	case now.Sub(r.health.overloaded) < stateHolds:
		return stateOverloaded, r.health.message, time.Time{}
	case now.Sub(r.health.throttled) < stateHolds:
		return stateThrottling, r.health.message, time.Time{}
	case now.Sub(last) > idleAfter:
		return stateIdle, "", time.Time{}
	}
	return stateHealthy, "", time.Time{}
}
