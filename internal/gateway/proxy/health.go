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
	throttle   said
	overload   said
	// exhausted is of routes that only observe: others have marks.
	exhausted   time.Time
	observation said
	callTime    time.Duration
}

// took learns how long an attempt that is served needs until its response begins.
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

// failed notes a refusal. An exhausted quota has a mark of its own, with its own words.
func (h *health) failed(f dialect.Failure, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch f.Class {
	case dialect.ClassThrottle:
		h.throttled, h.throttle = now, said{f.Code, f.Message}
	case dialect.ClassOverload:
		h.overloaded, h.overload = now, said{f.Code, f.Message}
	default:
	}
}

// observed notes an exhausted quota where nothing may be marked.
func (h *health) observed(words said, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.exhausted, h.observation = now, words
}

// said is a provider's own words.
type said struct{ code, message string }

// state is what a provider's state is called, and the provider's own words where it is not healthy.
type state struct {
	name string
	said
	// until is an exhausted quota's documented reset; zero if none is known.
	until time.Time
}

// state tells a quota first: while it is used up nothing else matters.
func (r *route) state(now time.Time) state {
	if exhausted, words, until := r.quotas.any(now); exhausted {
		return state{stateQuota, words, until}
	}
	last := time.UnixMilli(r.tally.LastCallUnixMillis.Load())
	r.health.mu.Lock()
	defer r.health.mu.Unlock()
	switch {
	case now.Sub(r.health.exhausted) < stateHolds:
		return state{name: stateQuota, said: r.health.observation}
	case now.Sub(r.health.overloaded) < stateHolds:
		return state{name: stateOverloaded, said: r.health.overload}
	case now.Sub(r.health.throttled) < stateHolds:
		return state{name: stateThrottling, said: r.health.throttle}
	case now.Sub(last) > idleAfter:
		return state{name: stateIdle}
	}
	return state{name: stateHealthy}
}
