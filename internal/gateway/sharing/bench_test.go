// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"slices"
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
func granted(route plan.Route) *Member {
	m := New(Options{
		Holder: "g", Incarnation: 1, Facts: facts.Facts{Charges: facts.AsProduced}, TTL: time.Hour, Hastened: func() {},
	}, route, 1, time.Now())
	r := m.Draw(time.Now())
	g := pool.Grant{Holder: "g", Incarnation: 1, Term: pool.Term{Epoch: 1, Opening: 1}, Ack: r.Sequence, Stamp: 1}
	for _, l := range m.limits {
		g.Totals = append(g.Totals, pool.Amount{Budget: l.Name, Units: 1e14})
	}
	m.Receive(&g, time.Now())
	m.Draw(time.Now())
	m.Due(time.Now())
	return m
}

func alone(route plan.Route) *admission.Gate {
	return admission.New(admission.Options{Facts: facts.Facts{Charges: facts.AsProduced}}, route, 1, time.Now())
}

// admitter is what a call goes through: a gate, or a member.
type admitter interface {
	Enter(t *admission.Ticket, now time.Time) admission.Verdict
	ReleaseAt(t *admission.Ticket, s admission.Settlement, now time.Time)
}

//nolint:thelper // naming a helper costs more than the call that is measured
func pass(tb testing.TB, g admitter, k *admission.Ticket) {
	now := time.Now()
	if v := g.Enter(k, now); v.State != budget.Admitted {
		tb.Fatal(v)
	}
	g.ReleaseAt(k, admission.Settlement{Kind: admission.Rejected}, now)
}

// A call that goes at once through three limits and three lanes and is settled, where grants are in hand: what sharing costs a
// call, beside a gate that has its limits for itself. Both take turns, so that whatever else the machine does falls on both, and
// as that only ever adds time, the figures are those of the quietest tenth of the rounds.
func BenchmarkMemberBesideGate(b *testing.B) {
	for _, c := range situations() {
		b.Run(c.name, func(b *testing.B) { c.measure(b) })
	}
}

func (c situation) measure(b *testing.B) {
	b.Helper()
	gate, member := alone(c.route), granted(c.route)
	defer gate.Close()
	defer member.Close()
	c.begin(b, member)
	kg, km := ticket(100, 2, time.Hour), ticket(100, 2, time.Hour)
	kg.Estimate.Output, km.Estimate.Output = 10, 10
	var bare, shared []float64
	b.ReportAllocs()
	for b.Loop() {
		bare = append(bare, round(b, gate, kg))
		shared = append(shared, round(b, member, km))
	}
	x, y := quiet(bare), quiet(shared)
	b.ReportMetric(x, "gate-ns/call")
	b.ReportMetric(y, "member-ns/call")
	b.ReportMetric(y-x, "added-ns/call")
	b.ReportMetric(y/x, "ratio")
}

// situation is what a member is in when calls go at once.
type situation struct {
	name  string
	route plan.Route
	// waits: a large call waits aside.
	waits bool
}

func situations() []situation {
	slots, models := plentiful(), plentiful()
	slots.Limits = append(slots.Limits, plan.Limit{Name: "slots", Budget: plan.InFlight, Amount: 100, Burst: 100})
	for i := range models.Limits {
		models.Limits[i].Models = []string{"other-*", "m*"}
	}
	return []situation{{"rates", plentiful(), false}, {"slots", slots, false}, {"models", models, false}, {"besideALargeCall", plentiful(), true}}
}

func (c situation) begin(tb testing.TB, m *Member) {
	tb.Helper()
	if !c.waits {
		return
	}
	if v := m.Enter(ticket(2e14, 0, time.Hour), time.Now()); v.State != budget.Queued {
		tb.Fatalf("%+v", v)
	}
}

// round is how many nanoseconds a call takes, of a hundred.
func round(b *testing.B, g admitter, k *admission.Ticket) float64 {
	b.Helper()
	const calls = 100
	began := time.Now()
	for range calls {
		pass(b, g, k)
	}
	return float64(time.Since(began)) / calls
}

func quiet(rounds []float64) float64 {
	slices.Sort(rounds)
	return rounds[len(rounds)/10]
}

// The hot path takes nothing from the heap.
func TestGrantsInHandCostNoAllocation(t *testing.T) {
	for _, c := range situations() {
		t.Run(c.name, func(t *testing.T) {
			m := granted(c.route)
			defer m.Close()
			c.begin(t, m)
			k := ticket(100, 2, time.Hour)
			if n := testing.AllocsPerRun(200, func() { pass(t, m, k) }); n > 0 {
				t.Errorf("%v allocations a call", n)
			}
		})
	}
}
