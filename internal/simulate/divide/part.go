// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package divide

import (
	"math"

	"github.com/headgate-dev/headgate/internal/plan"
)

// Key names a limit within a namespace.
type Key struct{ Policy, Provider, Limit string }

// Part is what one of several gateways gets of a limit.
type Part struct {
	// RatePerSecond is 0 for slots.
	RatePerSecond float64
	// Capacity is the gateway's bucket, or its slots.
	Capacity float64
	// Gateways is how many share the limit.
	Gateways int
	// PossibleExcess is what all of them together may pass above burst + rate·time: Σ capacity − burst.
	PossibleExcess float64
}

// Rate is a limit's refill in units per second; 0 for slots.
func Rate(l plan.Limit) float64 {
	if l.Budget == plan.InFlight || l.WindowSeconds <= 0 {
		return 0
	}
	return float64(l.Amount) / float64(l.WindowSeconds)
}

// Whole is what the parts of n gateways must not exceed together: the rate that is to be divided, or the
// slots. A gateway without a slot could never call, so there are at least as many slots as gateways.
func Whole(l plan.Limit, rate float64, n int) float64 {
	switch {
	case l.Budget != plan.InFlight:
		return rate
	case l.Amount == 0:
		return 0
	}
	return math.Max(float64(l.Amount), float64(n))
}

// Of returns the part of the gateway with this index, of n, of a limit of which rate is to be divided.
// largest is the largest call that must be able to pass.
func Of(l plan.Limit, rate float64, n, index int, largest float64) Part {
	n = max(n, 1)
	if l.Budget == plan.InFlight {
		return slots(l.Amount, n, index)
	}
	burst := float64(l.Burst)
	capacity := max(burst/float64(n), min(burst, largest))
	return Part{
		RatePerSecond:  rate / float64(n),
		Capacity:       capacity,
		Gateways:       n,
		PossibleExcess: max(float64(n)*capacity-burst, 0),
	}
}

// slots cannot be halved: the first gateways get one more, and every one gets one.
func slots(amount int64, n, index int) Part {
	if amount == 0 {
		return Part{Gateways: n}
	}
	each, rest := amount/int64(n), amount%int64(n)
	if int64(index) < rest {
		each++
	}
	return Part{Capacity: float64(max(each, 1)), Gateways: n, PossibleExcess: math.Max(float64(int64(n)-amount), 0)}
}

// Largest is the largest call a limit must let pass: what the lanes declare, where a lane declares nothing
// the largest seen. Outputs are not declared: a call reserves at most the capacity and settles.
func Largest(l plan.Limit, lanes []plan.Lane, seen float64) float64 {
	switch l.Budget {
	case plan.Requests:
		return 1
	case plan.InputTokens, plan.Tokens:
	default:
		return 0
	}
	var largest float64
	for _, lane := range lanes {
		if lane.LargestCallTokens > 0 {
			largest = max(largest, float64(lane.LargestCallTokens))
		} else if seen > 0 && !math.IsInf(seen, 1) {
			largest = max(largest, seen)
		}
	}
	return largest
}

// SafeRate is what a gateway without a share takes of a limit's rate: half of one part of maxGateways.
func SafeRate(l plan.Limit, maxGateways int32) float64 {
	return Rate(l) / 2 / float64(max(maxGateways, 1))
}
