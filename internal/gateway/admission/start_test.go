// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"testing"

	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
)

// A gate told what was spent before it was there starts at what is left; slots are nobody's past.
func TestAGateStartsWhereItsOwnerSays(t *testing.T) {
	route := plan.Route{
		Name: "r",
		Limits: []plan.Limit{
			{Name: "tokens", Budget: plan.InputTokens, Amount: 400_000, WindowSeconds: 60, Burst: 400_000},
			{Name: "slots", Budget: plan.InFlight, Amount: 4, Burst: 4},
		},
		Lanes: []plan.Lane{{Name: "default", SharePermille: 1000, MaxDepth: 10, MaxWaitMillis: 50_000}},
	}
	for part, want := range map[float64]float64{-1: 0, 0: 0, 0.25: 100_000, 1: 400_000, 2: 400_000} {
		g := New(Options{Facts: facts.Facts{Charges: facts.AsProduced}}, route, 1, epoch)
		g.StartAt(part, epoch)
		f := g.Figures(epoch)
		if f.Limits[0].Level != want || f.Limits[1].Level != 4 {
			t.Errorf("at %v the levels are %v and %v", part, f.Limits[0].Level, f.Limits[1].Level)
		}
		g.Close()
	}
}
