// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"maps"
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/wire"
)

func (r *reader) lanes(provider string, p *provider, routes []*route) []LaneFigures {
	var list []LaneFigures
	for _, name := range slices.Sorted(maps.Keys(p.lanes)) {
		agg := p.lanes[name]
		f := LaneFigures{Provider: provider, Name: name}
		if !f.levels(name, routes) && r.removed(agg.touched, routes) {
			continue
		}
		f.counts(agg, r.now)
		f.growth(agg.grew.last(r.now, growthOver), fullest(name, routes), r.agg.activity.span(r.now))
		list = append(list, f)
	}
	return list
}

func (f *LaneFigures) levels(name string, routes []*route) bool {
	found := false
	for _, rt := range routes {
		s := rt.lanes[name]
		if s == nil || s.sequence != rt.sequence {
			continue
		}
		found = true
		f.Queued += int64(s.queued)
		f.QueuedOldest = max(f.QueuedOldest, s.oldest)
		f.LargestCallTokens = max(f.LargestCallTokens, s.largest)
	}
	return found
}

func (f *LaneFigures) counts(agg *lane, now time.Time) {
	f.Offered = agg.counts[laneOffered].count(now)
	f.Sent = agg.counts[laneSent].count(now)
	f.Cancelled = agg.counts[laneCancelled].count(now)
	f.WouldHaveRefused = agg.counts[laneWouldRefuse].count(now)
	f.RefusedBy = map[string]int64{}
	for i, reason := range reasons {
		n := agg.counts[laneRefusals+i].count(now)
		if n == 0 {
			continue
		}
		f.RefusedBy[reason] = n
		f.Refused += n
		if n > f.RefusedBy[f.RefusedMostlyFor] || f.RefusedMostlyFor == "" {
			f.RefusedMostlyFor = reason
		}
	}
	f.WaitWorst = millis(uint64(agg.worst.max(now)))
	var waits [numWaits]float64
	for i := range waits {
		waits[i] = agg.counts[laneWaits+i].recent.sum(now)
	}
	f.WaitMedian = median(waits, f.WaitWorst)
}

// median reads the median from the waits' buckets, linear within the one it falls in. The last bucket has
// no upper bound but the worst wait.
func median(waits [numWaits]float64, worst time.Duration) time.Duration {
	var all float64
	for _, n := range waits {
		all += n
	}
	if all == 0 {
		return 0
	}
	below := 0.0
	for i, n := range waits {
		if below+n < all/2 {
			below += n
			continue
		}
		lower, upper := waitBounds(i, worst)
		return lower + time.Duration(float64(upper-lower)*(all/2-below)/n)
	}
	return worst
}

func waitBounds(bucket int, worst time.Duration) (lower, upper time.Duration) {
	bounds := wire.WaitBoundsMillis
	if bucket > 0 {
		lower = millis(bounds[bucket-1])
	}
	if bucket == len(bounds) {
		return lower, max(lower, worst)
	}
	upper = millis(bounds[bucket])
	if worst > lower {
		upper = min(upper, worst)
	}
	return lower, upper
}
