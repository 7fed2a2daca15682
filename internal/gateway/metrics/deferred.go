// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import "github.com/headgate-dev/headgate/internal/gateway/proxy"

const labelState = "state"

var (
	deferredCalls = desc("deferred_calls", "Deferred calls that are kept, by state.", labelState)
	deferredTotal = desc("deferred_total", "What became of calls that were deferred, or would have been, since the gateway's start.", labelOutcome)
)

// deferred sends a route's deferred calls; a route that never had one has none of these metrics.
func (e *emitter) deferred(c *proxy.DeferredCounts) {
	if c.Outcomes == nil {
		return
	}
	e.gauge(deferredCalls, float64(c.Waiting), "waiting")
	e.gauge(deferredCalls, float64(c.Done), "done")
	e.gauge(deferredCalls, float64(c.DeadLetters), "dead_letter")
	for outcome, n := range c.Outcomes {
		e.counter(deferredTotal, float64(n), outcome)
	}
}
