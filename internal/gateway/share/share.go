// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package share

import (
	"math"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/gateway/proxy"
	"github.com/headgate-dev/headgate/internal/wire"
)

// Gateway is the data plane.
type Gateway interface {
	SetShares(shares map[proxy.LimitID]admission.Share, now time.Time)
	Snapshot(now time.Time, reset bool) []*wire.RouteReport
}

// Shares implements report.Shares on a gateway.
type Shares struct{ Gateway Gateway }

// Apply puts shares in force.
func (s Shares) Apply(limits []*wire.LimitShare) {
	shares := make(map[proxy.LimitID]admission.Share, len(limits))
	for _, l := range limits {
		if !sane(l.GetRatePerSecond()) || !sane(l.GetCapacity()) {
			continue
		}
		id := proxy.LimitID{Policy: l.GetPolicy(), Provider: l.GetProvider(), Limit: l.GetLimit()}
		shares[id] = admission.Share{RatePerSecond: l.GetRatePerSecond(), Capacity: l.GetCapacity()}
	}
	s.Gateway.SetShares(shares, time.Now())
}

// Safe puts every limit on its safe share.
func (s Shares) Safe() { s.Gateway.SetShares(nil, time.Now()) }

func sane(v float64) bool { return v >= 0 && !math.IsInf(v, 1) }

// Source implements report.Source on a gateway.
type Source struct{ Gateway Gateway }

// Report returns the gateway's cumulative figures; the worst waits start anew.
func (s Source) Report(now time.Time) []*wire.RouteReport { return s.Gateway.Snapshot(now, true) }
