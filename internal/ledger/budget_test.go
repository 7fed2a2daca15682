// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/plan"
)

func TestBudgetOfALimit(t *testing.T) {
	tests := map[string]struct {
		limit       plan.Limit
		maxGateways int32
		want        pool.Budget
		safe, burst float64
	}{
		"tokens": {
			tokens("input", 400_000, 400_000), 4,
			pool.Budget{Name: "input", Rate: 400_000.0 / 60, Capacity: 380_000, Window: time.Minute, SmallCall: 2000, MaxHolders: 4},
			400_000.0 / 60 / 8, 2000,
		},
		"requests": {
			requests("requests", 600, 60), 1,
			pool.Budget{Name: "requests", Rate: 10, Capacity: 57, Window: time.Minute, SmallCall: 1, MaxHolders: 1},
			5, 1,
		},
		"an account's, by its own gateways": {
			plan.Limit{Name: "a:input", Budget: plan.Tokens, Amount: 60, WindowSeconds: 60, Burst: 100, Account: "a", MaxGateways: 10},
			2,
			pool.Budget{Name: "a:input", Rate: 1, Capacity: 95, Window: time.Minute, SmallCall: 3000, MaxHolders: 10},
			// A twentieth of what there is: ten gateways that save a small call each would save thirty bursts.
			0.05, 4.75,
		},
		"calls in flight have no guard": {
			plan.Limit{Name: "f", Budget: plan.InFlight, Amount: 20, Burst: 20},
			2,
			pool.Budget{Name: "f", Kind: budget.Slots, Capacity: 20, MaxHolders: 2},
			0, 5,
		},
		"nothing passes": {
			plan.Limit{Name: "n", Budget: plan.OutputTokens, WindowSeconds: 60},
			0,
			pool.Budget{Name: "n", Window: time.Minute, SmallCall: 1000, MaxHolders: 1},
			0, 0,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Budget(tc.limit, tc.maxGateways)); diff != "" {
				t.Errorf("the budget (-want +got):\n%s", diff)
			}
			h := Holder(tc.limit, tc.maxGateways)
			if h.Name != tc.limit.Name || h.SafeRate != tc.safe || h.SafeBurst != tc.burst {
				t.Errorf("a gateway has %+v, want a safe share of %v with a burst of %v", h, tc.safe, tc.burst)
			}
		})
	}
}

func TestLaneOfAPlan(t *testing.T) {
	none, some := int64(0), int64(1500)
	tests := map[string]struct {
		lane plan.Lane
		want budget.Lane
	}{
		"plain":       {plan.Lane{Name: "a", SharePermille: 400, Priority: 3, Weight: 2}, budget.Lane{Name: "a", Share: 0.4, Priority: 3, Weight: 2}},
		"no hold":     {plan.Lane{Name: "a", HoldMillis: &none}, budget.Lane{Name: "a", Hold: -1}},
		"some of it":  {plan.Lane{Name: "a", HoldMillis: &some}, budget.Lane{Name: "a", Hold: 1500 * time.Millisecond}},
		"no gateways": {plan.Lane{Name: "a", MaxDepth: 7, MaxWaitMillis: 5}, budget.Lane{Name: "a"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Lane(tc.lane)); diff != "" {
				t.Errorf("the lane (-want +got):\n%s", diff)
			}
		})
	}
}
