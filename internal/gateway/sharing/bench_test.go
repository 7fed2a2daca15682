// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/budget/pool"
	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/plan"
)

const plenty = 1e15

func plentiful() plan.Route {
	route := plan.Route{Name: "anthropic", Lanes: []plan.Lane{
		{Name: "bulk", SharePermille: 400, MaxDepth: 100},
		{Name: "batch", SharePermille: 100, MaxDepth: 100},
		{Name: "default", SharePermille: 500, MaxDepth: 100},
	}}
	for _, name := range []string{plan.Requests, plan.InputTokens, plan.OutputTokens} {
		route.Limits = append(route.Limits, plan.Limit{Name: name, Budget: name, Amount: plenty, WindowSeconds: 60, Burst: plenty})
	}
	return route
}

// granted returns a member that has been granted plenty, for longer than a benchmark lasts.
func granted() *Member {
	m := New(Options{Holder: "g", Incarnation: 1, Facts: facts.Facts{Charges: facts.AsProduced}, TTL: time.Hour}, plentiful(), 1, time.Now())
	r := m.Draw(time.Now())
	g := pool.Grant{Holder: "g", Incarnation: 1, Term: pool.Term{Epoch: 1, Opening: 1}, Ack: r.Sequence, Stamp: 1}
	for _, l := range m.limits {
		g.Totals = append(g.Totals, pool.Amount{Budget: l.Name, Units: 1e14})
	}
	m.Receive(&g, time.Now())
	m.Due(time.Now())
	return m
}

// A call that goes at once through three limits and three lanes and is settled, where grants are in hand: what sharing costs a
// call, beside a gate that has its limits for itself.
func BenchmarkEnterAndRelease(b *testing.B) {
	gate := admission.New(admission.Options{Facts: facts.Facts{Charges: facts.AsProduced}}, plentiful(), 1, time.Now())
	defer gate.Close()
	member := granted()
	defer member.Close()
	for name, g := range map[string]interface {
		Enter(t *admission.Ticket, now time.Time) admission.Verdict
		ReleaseAt(t *admission.Ticket, s admission.Settlement, now time.Time)
	}{"gate": gate, "member": member} {
		b.Run(name, func(b *testing.B) {
			t := ticket(100, 2, time.Hour)
			t.Estimate.Output = 10
			b.ReportAllocs()
			for b.Loop() {
				now := time.Now()
				if v := g.Enter(t, now); v.State != budget.Admitted {
					b.Fatal(v)
				}
				g.ReleaseAt(t, admission.Settlement{Kind: admission.Rejected}, now)
			}
		})
	}
}

// The hot path takes nothing from the heap.
func TestGrantsInHandCostNoAllocation(t *testing.T) {
	m := granted()
	defer m.Close()
	k := ticket(100, 2, time.Hour)
	if n := testing.AllocsPerRun(200, func() {
		now := time.Now()
		if v := m.Enter(k, now); v.State != budget.Admitted {
			t.Fatal(v)
		}
		m.ReleaseAt(k, admission.Settlement{Kind: admission.Rejected}, now)
	}); n > 0 {
		t.Errorf("%v allocations a call", n)
	}
}
