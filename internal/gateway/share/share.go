// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package share

import (
	"time"

	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/gateway/proxy"
	"github.com/headgate-dev/headgate/internal/wire"
)

// Gateway is the data plane.
type Gateway interface {
	Draws(all bool, now time.Time) []proxy.Draw
	NextDraw(now time.Time) (time.Time, bool)
	Hastened() <-chan struct{}
	Receive(policy, provider string, grant *pool.Grant, now time.Time)
	Drain(now time.Time) []proxy.Draw
	Snapshot(now time.Time, reset bool) []*wire.RouteReport
}

// Source implements report.Source on a gateway.
type Source struct{ Gateway Gateway }

// Report returns the gateway's cumulative figures; the worst waits start anew.
func (s Source) Report(now time.Time) []*wire.RouteReport { return s.Gateway.Snapshot(now, true) }

// Draws implements report.Draws on a gateway.
type Draws struct{ Gateway Gateway }

// Draws implements report.Draws.
func (d Draws) Draws(all bool, now time.Time) []*wire.Draw {
	return wireDraws(d.Gateway.Draws(all, now))
}

// NextDraw implements report.Draws.
func (d Draws) NextDraw(now time.Time) (time.Time, bool) { return d.Gateway.NextDraw(now) }

// Hastened implements report.Draws.
func (d Draws) Hastened() <-chan struct{} { return d.Gateway.Hastened() }

// Drain implements report.Draws.
func (d Draws) Drain(now time.Time) []*wire.Draw { return wireDraws(d.Gateway.Drain(now)) }

// Receive implements report.Draws. Grants with more than they may have change nothing.
func (d Draws) Receive(grants []*wire.Grant, now time.Time) {
	for _, g := range grants[:min(len(grants), wire.MaxRoutes)] {
		if grant, ok := poolGrant(g); ok {
			d.Gateway.Receive(g.GetPolicy(), g.GetProvider(), &grant, now)
		}
	}
}
