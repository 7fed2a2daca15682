// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"math"
	"slices"
	"time"
)

// arrival is what reached the provider at a time.
type arrival struct {
	at    time.Duration
	units float64
}

// referee stands before the provider and knows a limit's amount, window and burst, and nothing of how it is kept.
type referee struct {
	rate, burst float64
	arrivals    []arrival
}

// maxExcess is the largest of arrivals − rate·length − burst over all intervals: below 0 is what was left in the tightest.
func (r *referee) maxExcess() float64 {
	slices.SortStableFunc(r.arrivals, func(a, b arrival) int { return int(a.at - b.at) })
	worst, least, total := math.Inf(-1), math.Inf(1), 0.0
	for _, a := range r.arrivals {
		before := total - r.rate*a.at.Seconds()
		least = min(least, before)
		total += a.units
		worst = max(worst, total-r.rate*a.at.Seconds()-least)
	}
	return worst - r.burst
}

// within is what arrived in a part of the time.
func (r *referee) within(from, to time.Duration) float64 {
	sum := 0.0
	for _, a := range r.arrivals {
		if a.at >= from && a.at < to {
			sum += a.units
		}
	}
	return sum
}
