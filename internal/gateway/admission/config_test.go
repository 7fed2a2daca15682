// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/budget"
	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
)

// Every number of a route's limits and lanes reaches the scheduler, each as its own.
func TestLimitsAndLanesAreTheRoutes(t *testing.T) {
	g := New(Options{Facts: facts.Facts{}}, plan.Route{
		Limits: []plan.Limit{
			{Name: "tokens", Budget: plan.Tokens, Amount: 120, WindowSeconds: 60, Burst: 30},
			{Name: "slots", Budget: plan.InFlight, Amount: 5, Burst: 5},
		},
		Lanes: []plan.Lane{
			{Name: "bulk", SharePermille: 300, MaxDepth: 7, MaxWaitMillis: 8000},
			{Name: "now", MaxDepth: 0},
			{Name: "default", SharePermille: 700, MaxDepth: 9, MaxWaitMillis: 10_000},
		},
	}, 1, time.Now())
	defer g.Close()
	want := budget.Config{
		Margin: margin, MaxDepth: maxWaiting,
		Buckets: []budget.Bucket{
			{Name: "limit/tokens", Rate: 2, Capacity: 30, Limit: 30, Window: time.Minute, Unit: plan.Tokens},
			{Name: "limit/slots", Kind: budget.Slots, Capacity: 5, Limit: 5, Unit: plan.InFlight},
		},
		Lanes: []budget.Lane{
			{Name: "bulk", Share: 0.3, MaxDepth: 7, MaxWait: 8 * time.Second},
			{Name: "now", MaxDepth: -1},
			{Name: "default", Share: 0.7, MaxDepth: 9, MaxWait: 10 * time.Second},
		},
	}
	if diff := cmp.Diff(want, g.configLocked()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLimitCountsItsModelsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{Facts: facts.Facts{}}, plan.Route{
			Limits: []plan.Limit{{Name: "opus", Budget: plan.Requests, Amount: 10, WindowSeconds: 60, Burst: 10, Models: []string{"*-opus"}}},
			Lanes:  []plan.Lane{{Name: "default", SharePermille: 1000, MaxDepth: 1, MaxWaitMillis: 1000}},
		}, 1, time.Now())
		defer g.Close()
		for _, model := range []string{"a-opus", "a-sonnet", "b-opus", ""} {
			c := ticket(1, 1)
			c.Account.Model = model
			g.Enter(c, time.Now())
			g.Release(c, Settlement{Kind: Kept})
		}
		if spent := g.Figures(time.Now()).Limits[0].Spent; spent != 2 {
			t.Errorf("%v calls are charged, want the two of the limit's models", spent)
		}
	})
}
