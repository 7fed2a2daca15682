// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package figures

import "time"

// growthOver is the time by which a queue's growth is measured: a load that changed earlier is history.
const growthOver = time.Minute

// growth is how fast the queue grows, and when it will be full if that goes on. The gateways' queues are taken to grow by
// the same part, so that the fullest is full first. span is the time that had traffic.
func (f *LaneFigures) growth(grew, fullest float64, span time.Duration) {
	if f.Queued == 0 || fullest == 0 || grew < 1 || span <= 0 {
		return
	}
	f.Growing = true
	perSecond := grew / min(span, growthOver).Seconds()
	left := (1/fullest - 1) * float64(f.Queued)
	f.FullIn = time.Duration(min(left/perSecond, largest/1e9) * float64(time.Second))
}

// fullest is the part of the queue that is taken in the gateway where most of it is.
func fullest(lane string, routes []*route) float64 {
	var most float64
	for _, rt := range routes {
		if s := rt.lanes[lane]; s != nil && s.sequence == rt.sequence {
			most = max(most, s.fullness)
		}
	}
	return most
}
