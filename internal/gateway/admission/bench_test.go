// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
)

// A call that goes at once through three limits, the mirror of one, and three lanes, and is settled: what a gate
// costs a call.
func BenchmarkEnterAndRelease(b *testing.B) {
	const plenty = 1e15
	route := plan.Route{Name: "anthropic", Lanes: []plan.Lane{
		{Name: "bulk", SharePermille: 400, MaxDepth: 100},
		{Name: "batch", SharePermille: 100, MaxDepth: 100},
		{Name: "default", SharePermille: 500, MaxDepth: 100},
	}}
	for _, name := range []string{plan.Requests, plan.InputTokens, plan.OutputTokens} {
		route.Limits = append(route.Limits, plan.Limit{Name: name, Budget: name, Amount: plenty, WindowSeconds: 60, Burst: plenty})
	}
	g := New(Options{Facts: facts.Facts{Charges: facts.AsProduced}}, route, 1, time.Now())
	defer g.Close()
	t := ticket(100, 10)
	t.Lane = 2
	g.Enter(t, time.Now())
	g.Observe(t, reading(plan.InputTokens, plenty, plenty), time.Now())
	g.Release(t, Settlement{Kind: Rejected})
	b.ReportAllocs()
	for b.Loop() {
		now := time.Now()
		if v := g.Enter(t, now); v.State != budget.Admitted {
			b.Fatal(v)
		}
		g.ReleaseAt(t, Settlement{Kind: Rejected}, now)
	}
}
