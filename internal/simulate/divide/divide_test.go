// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package divide

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/headgate-dev/headgate/internal/plan"
	_ "github.com/headgate-dev/headgate/internal/testing/seed"
)

func TestParts(t *testing.T) {
	tokens := plan.Limit{Budget: plan.InputTokens, Amount: 600, WindowSeconds: 60, Burst: 600}
	for name, tc := range map[string]struct {
		limit    plan.Limit
		n, index int
		largest  float64
		want     Part
	}{
		"alone":            {tokens, 1, 0, 0, Part{10, 600, 1, 0}},
		"of four":          {tokens, 4, 3, 0, Part{2.5, 150, 4, 0}},
		"a large call":     {tokens, 4, 0, 200, Part{2.5, 200, 4, 200}},
		"larger than all":  {tokens, 4, 0, 5000, Part{2.5, 600, 4, 1800}},
		"nobody yet":       {tokens, 0, 0, 0, Part{10, 600, 1, 0}},
		"nothing passes":   {plan.Limit{Budget: plan.Requests, WindowSeconds: 60}, 3, 0, 1, Part{0, 0, 3, 0}},
		"slots":            {plan.Limit{Budget: plan.InFlight, Amount: 7, Burst: 7}, 3, 0, 0, Part{0, 3, 3, 0}},
		"slots, the last":  {plan.Limit{Budget: plan.InFlight, Amount: 7, Burst: 7}, 3, 2, 0, Part{0, 2, 3, 0}},
		"too few slots":    {plan.Limit{Budget: plan.InFlight, Amount: 2, Burst: 2}, 3, 2, 0, Part{0, 1, 3, 1}},
		"no slots":         {plan.Limit{Budget: plan.InFlight}, 3, 2, 0, Part{0, 0, 3, 0}},
		"too few requests": {plan.Limit{Budget: plan.Requests, Amount: 2, WindowSeconds: 1, Burst: 2}, 4, 0, 1, Part{0.5, 1, 4, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			got := Of(tc.limit, Rate(tc.limit), tc.n, tc.index, tc.largest)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLargest(t *testing.T) {
	declared := []plan.Lane{{Name: "bulk", LargestCallTokens: 60_000}, {Name: "chat", LargestCallTokens: 4000}}
	open := []plan.Lane{{Name: "bulk", LargestCallTokens: 60_000}, {Name: "default"}}
	for name, tc := range map[string]struct {
		budget string
		lanes  []plan.Lane
		seen   float64
		want   float64
	}{
		"declared":           {plan.InputTokens, declared, 90_000, 60_000},
		"seen":               {plan.Tokens, open, 90_000, 90_000},
		"nothing seen":       {plan.InputTokens, open, 0, 60_000},
		"absurd":             {plan.InputTokens, open, math.Inf(1), 60_000},
		"requests":           {plan.Requests, declared, 90_000, 1},
		"outputs are unsaid": {plan.OutputTokens, declared, 90_000, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Largest(plan.Limit{Budget: tc.budget}, tc.lanes, tc.seen); got != tc.want {
				t.Errorf("largest %v, want %v", got, tc.want)
			}
		})
	}
}

// gateway is a model of one that hears of its grants late, or never.
type gateway struct {
	acting  float64   // what it acts on
	pending []float64 // grants on their way, oldest first
}

// TestSharesNeverExceedTheLimit lets gateways join, leave, hear late and confirm late: what all act on together
// never exceeds the limit, and in the end each has its equal part.
func TestSharesNeverExceedTheLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ledger, gateways := NewLedger(), map[string]*gateway{}
		var order []string
		whole := 100.0
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch action := rapid.IntRange(0, 4).Draw(t, "action"); {
			case action == 0 && len(order) < 12: // join
				id := fmt.Sprint("g", len(gateways))
				for gateways[id] != nil {
					id += "'"
				}
				gateways[id], order = &gateway{}, append(order, id)
			case action == 1 && len(order) > 0: // gone for longer than its share lasts
				i := rapid.IntRange(0, len(order)-1).Draw(t, "who")
				delete(gateways, order[i])
				ledger.Drop(order[i])
				order = append(order[:i:i], order[i+1:]...)
			case action == 2 && len(order) > 0: // hears of some, and confirms once nothing is on its way
				id := order[rapid.IntRange(0, len(order)-1).Draw(t, "who")]
				g := gateways[id]
				for n := rapid.IntRange(0, len(g.pending)).Draw(t, "heard"); n > 0; n-- {
					g.acting, g.pending = g.pending[0], g.pending[1:]
				}
				if len(g.pending) == 0 {
					ledger.Confirm(id, 0)
				}
			default:
				grant(ledger, whole, order, gateways)
			}
			var sum float64
			for _, g := range gateways {
				sum += g.acting
			}
			if sum > whole*(1+1e-9) {
				t.Fatalf("%v of %v are in use", sum, whole)
			}
		}
		settle(t, ledger, whole, order, gateways)
	})
}

func grant(ledger *Ledger, whole float64, order []string, gateways map[string]*gateway) {
	var wants []Want
	for _, id := range order {
		wants = append(wants, Want{id, whole / float64(len(order))})
	}
	for i, amount := range ledger.Grant(whole, wants) {
		g := gateways[order[i]]
		g.pending = append(g.pending, amount)
	}
}

// settle lets everyone hear and confirm, twice: then all have their equal part.
func settle(t *rapid.T, ledger *Ledger, whole float64, order []string, gateways map[string]*gateway) {
	for range 2 {
		grant(ledger, whole, order, gateways)
		for _, id := range order {
			g := gateways[id]
			g.acting, g.pending = g.pending[len(g.pending)-1], nil
			ledger.Confirm(id, 0)
		}
	}
	for _, id := range order {
		if want := whole / float64(len(order)); math.Abs(gateways[id].acting-want) > 1e-9*whole {
			t.Fatalf("%s has %v in the end, want %v", id, gateways[id].acting, want)
		}
	}
}

func TestCallsInFlightHoldTheirSlots(t *testing.T) {
	l := NewLedger()
	if got := l.Grant(10, []Want{{"a", 10}}); got[0] != 10 {
		t.Fatalf("a lone gateway gets %v", got[0])
	}
	for _, step := range []struct{ inUse, want float64 }{{10, 0}, {7, 3}, {2, 5}} {
		l.Grant(10, []Want{{"a", 5}, {"b", 5}})
		l.Confirm("a", step.inUse)
		if got := l.Grant(10, []Want{{"a", 5}, {"b", 5}}); got[1] != step.want {
			t.Errorf("with %v in flight the other gets %v, want %v", step.inUse, got[1], step.want)
		}
	}
}
