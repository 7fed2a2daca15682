// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/plan"
)

// Guard is the part of a burst that a pool stays inside of, for what comes late and at once at the provider.
const Guard = 0.05

// Rate is a limit's R in units a second; slots have none.
func Rate(l plan.Limit) float64 {
	if l.Budget == plan.InFlight || l.WindowSeconds <= 0 {
		return 0
	}
	return float64(l.Amount) / float64(l.WindowSeconds)
}

// SmallCall is what a small call takes of a limit that counts so: the burst of a safe share, see pool.Safe.
func SmallCall(counts string) float64 {
	switch counts {
	case plan.Requests:
		return 1
	case plan.InputTokens:
		return 2000
	case plan.OutputTokens:
		return 1000
	case plan.Tokens:
		return 3000
	}
	return 0
}

// MaxGateways is for how many gateways a limit's safe share is; those of the policy are given.
func MaxGateways(l plan.Limit, policy int32) int {
	if l.MaxGateways > 0 {
		return int(l.MaxGateways)
	}
	return int(max(policy, 1))
}

// Budget is what a pool shares of a limit, by the name that the plan gives it; maxGateways are the policy's. It is the one
// place where that is decided, for gateways and leaders alike.
func Budget(l plan.Limit, maxGateways int32) pool.Budget {
	b := pool.Budget{
		Name: l.Name, Rate: Rate(l), Capacity: float64(l.Burst) * (1 - Guard),
		Window: time.Duration(l.WindowSeconds) * time.Second, SmallCall: SmallCall(l.Budget),
		MaxHolders: MaxGateways(l, maxGateways),
	}
	if l.Budget == plan.InFlight {
		b.Kind, b.Rate, b.Capacity = budget.Slots, 0, float64(l.Amount)
	}
	return b
}

// Holder is a gateway's side of a limit.
func Holder(l plan.Limit, maxGateways int32) pool.HolderBudget {
	b := Budget(l, maxGateways)
	rate, burst := pool.Safe(b, b.MaxHolders)
	return pool.HolderBudget{Name: b.Name, Kind: b.Kind, SafeRate: rate, SafeBurst: burst}
}

// Lane is a route's lane as a pool has it, with its share of the route's own limits.
func Lane(l plan.Lane) budget.Lane {
	lane := budget.Lane{Name: l.Name, Share: float64(l.SharePermille) / 1000, Priority: l.Priority, Weight: float64(l.Weight)}
	if l.HoldMillis != nil {
		lane.Hold = time.Duration(*l.HoldMillis) * time.Millisecond
		if lane.Hold == 0 {
			lane.Hold = -1
		}
	}
	return lane
}
