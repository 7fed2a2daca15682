// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import "github.com/headgate-dev/headgate/internal/gateway/sharing"

const labelMode = "mode"

var (
	degraded = desc("degraded", "1 while the gateway hears from no coordinator, and spends what its policy's outage mode allows: Safe, LastGrant or Open.",
		labelMode)
	outageSeconds = desc("outage_seconds_total", "Seconds in which the gateway heard from no coordinator.")
)

// outage sends how a route is as far as the coordinator goes; a route that asks none has none of these metrics.
func (e *emitter) outage(o *sharing.Outage) {
	if o == nil {
		return
	}
	is := 0.0
	if o.Silent {
		is = 1
	}
	e.gauge(degraded, is, o.Mode)
	e.counter(outageSeconds, o.Total.Seconds())
}
