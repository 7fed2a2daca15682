// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"math"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/headgate-dev/headgate/api/v1alpha1"
)

// materialFraction is the change of a figure that is worth a write, relative to the larger of the two, or,
// for the parts of a limit, to the limit.
const materialFraction = 0.05

// material reports whether a figure changed by at least materialFraction. Lists have equal names here.
func material(a, b v1alpha1.RateLimitPolicyStatus) bool {
	for i := range a.Limits {
		if materialLimit(a.Limits[i], b.Limits[i]) {
			return true
		}
	}
	for i := range a.Lanes {
		if materialLane(a.Lanes[i], b.Lanes[i]) {
			return true
		}
	}
	for i := range a.Providers {
		p, q := a.Providers[i], b.Providers[i]
		if movedCount(p.Sends, q.Sends) || movedCount(p.TooManyRequests, q.TooManyRequests) || movedCount(p.Overloads, q.Overloads) ||
			movedElsewhere(p, q) {
			return true
		}
	}
	return false
}

// materialLimit measures against the total: what remains of a limit that is hardly used is noise.
func materialLimit(a, b v1alpha1.LimitStatus) bool {
	total := max(value(a.Total), 1)
	for _, p := range [][2]v1alpha1.Amount{
		{a.Used, b.Used},
		{a.Offered, b.Offered},
		{a.Remaining, b.Remaining},
		{a.RemainingHeldForLanes, b.RemainingHeldForLanes},
		{a.TotalInEffect, b.TotalInEffect},
		{a.UsedElsewhere, b.UsedElsewhere},
		{a.Share, b.Share},
		{a.UsedBorrowed, b.UsedBorrowed},
	} {
		if math.Abs(value(p[0])-value(p[1])) >= materialFraction*total {
			return true
		}
	}
	return moved(value(a.TotalAtProvider), value(b.TotalAtProvider)) ||
		moved(value(a.RemainingAtProvider), value(b.RemainingAtProvider))
}

func materialLane(a, b v1alpha1.LaneStatus) bool {
	if a.Name != b.Name || a.RefusedMostlyFor != b.RefusedMostlyFor {
		return true
	}
	return moved(float64(a.Offered), float64(b.Offered)) || moved(float64(a.Sent), float64(b.Sent)) ||
		moved(float64(a.RefusedByPolicy), float64(b.RefusedByPolicy)) ||
		movedWait(a.WaitMedian, b.WaitMedian) || movedWait(a.NextBulkIn, b.NextBulkIn) || (a.QueueFullIn == "") != (b.QueueFullIn == "")
}

func movedElsewhere(a, b v1alpha1.ProviderStatus) bool {
	return movedCount(a.FailedOver, b.FailedOver) || movedCount(a.Deferred, b.Deferred) ||
		movedCount(a.DeferredWaiting, b.DeferredWaiting) || movedCount(a.DeadLetters, b.DeadLetters)
}

func moved(a, b float64) bool {
	return a != b && math.Abs(a-b) >= materialFraction*max(math.Abs(a), math.Abs(b))
}

func movedCount(a, b *int64) bool {
	if a == nil || b == nil {
		return (a == nil) != (b == nil)
	}
	return moved(float64(*a), float64(*b))
}

// movedWait ignores what people do not notice.
func movedWait(a, b v1alpha1.Wait) bool {
	x, y := duration(a), duration(b)
	return (x-y).Abs() >= noticeableWait/2 && moved(float64(x), float64(y))
}

func duration(w v1alpha1.Wait) time.Duration {
	d, err := time.ParseDuration(string(w))
	if err != nil {
		return 0
	}
	return d
}

// part reads a percentage back, as a fraction.
func part(p v1alpha1.Percent) float64 {
	n, err := strconv.ParseFloat(strings.Trim(string(p), "<>%"), 64)
	if err != nil {
		return 0
	}
	return n / 100
}

// value reads an amount back.
func value(a v1alpha1.Amount) float64 {
	s := string(a)
	if s == "" {
		return 0
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return float64(n)
	}
	q, err := resource.ParseQuantity(strings.TrimSpace(s))
	if err != nil {
		return 0
	}
	return float64(q.Value())
}
