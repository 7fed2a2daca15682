// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"fmt"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/plan"
)

// newTenants is an account of 400,000 tokens a minute with a minute's burst, for tenants whose lanes are given.
func newTenants(tb testing.TB, tenants []Tenant, shares ...int32) *market {
	tb.Helper()
	m := &market{world: newWorld(tb, 1, lan)}
	m.sold(Account{Name: "acct", MaxGateways: 40, Limits: []plan.Limit{tokens("input", perMinute, perMinute)}, Tenants: tenants})
	m.a = m.policy("a", "chat", "acct", 40, lanes(shares...))
	m.b = m.policy("b", "chat", "acct", 40, lanes(shares...))
	m.c = m.policy("c", "chat", "acct", 40, lanes(shares...))
	m.lead(1000 * time.Hour)
	return m
}

const rate = perMinute / 60.0

// served is what each of the gateways was served as a part of the rate, over a while.
func (m *market) served(d time.Duration, gateways ...*gateway) []float64 {
	before := make([]float64, len(gateways))
	sum := func(g *gateway) (s float64) {
		for _, o := range g.draws[0].loads {
			s += o.served
		}
		return s
	}
	for i, g := range gateways {
		before[i] = sum(g)
	}
	m.goOn(d)
	out := make([]float64, len(gateways))
	for i, g := range gateways {
		out[i] = (sum(g) - before[i]) / (rate * d.Seconds())
	}
	return out
}

// What each tenant has of an account when all want more than there is, or some do not.
func TestTenantsHaveWhatTheyWereSold(t *testing.T) {
	guaranteed := func(ns string, percent int32) Tenant { return Tenant{Namespace: ns, GuaranteedPercent: percent} }
	with := func(t Tenant, change func(*Tenant)) Tenant {
		change(&t)
		return t
	}
	noLending := func(t *Tenant) { t.LendablePercent = of(int32(0)) }
	tests := map[string]struct {
		tenants []Tenant
		// offered are parts of the rate that a, b and c offer, want what they get: least and most.
		offered     [3]float64
		least, most [3]float64
	}{
		"guarantees under overload": {
			[]Tenant{guaranteed("a", 60), guaranteed("b", 30)},
			[3]float64{2, 2, 2},
			[3]float64{0.6, 0.3, 0.02},
			[3]float64{0.66, 0.36, 0.1},
		},
		"who has no part of its own only borrows": {
			[]Tenant{guaranteed("a", 60), guaranteed("b", 40)},
			[3]float64{2, 2, 2},
			[3]float64{0.585, 0.385, 0},
			[3]float64{0.62, 0.42, 0.02},
		},
		"what is unclaimed is divided evenly": {
			nil, [3]float64{2, 2, 2}, [3]float64{0.32, 0.32, 0.32}, [3]float64{0.35, 0.35, 0.35},
		},
		"by max-min": {
			nil, [3]float64{0.1, 2, 2}, [3]float64{0.095, 0.43, 0.43}, [3]float64{0.105, 0.47, 0.47},
		},
		"by weight": {
			[]Tenant{{Namespace: "a", Weight: 3}}, [3]float64{2, 2, 2}, [3]float64{0.57, 0.19, 0.19}, [3]float64{0.62, 0.22, 0.22},
		},
		"what is idle is lent": {
			[]Tenant{guaranteed("a", 60), guaranteed("b", 40)}, [3]float64{0, 2, 0}, [3]float64{0, 0.98, 0}, [3]float64{0, 1.01, 0},
		},
		"but not what is not lendable": {
			[]Tenant{with(guaranteed("a", 60), noLending), guaranteed("b", 40)},
			[3]float64{0, 2, 0},
			[3]float64{0, 0.38, 0},
			[3]float64{0, 0.41, 0},
		},
		"half of it": {
			[]Tenant{with(guaranteed("a", 60), func(t *Tenant) { t.LendablePercent = of(int32(50)) }), guaranteed("b", 40)},
			[3]float64{0, 2, 0},
			[3]float64{0, 0.68, 0},
			[3]float64{0, 0.71, 0},
		},
		"no more than the borrowing limit": {
			[]Tenant{guaranteed("a", 20), with(guaranteed("b", 20), func(t *Tenant) { t.BorrowingLimitPercent = of(int32(10)) })},
			[3]float64{0, 2, 0},
			[3]float64{0, 0.29, 0},
			[3]float64{0, 0.305, 0},
		},
		"nothing may be borrowed": {
			[]Tenant{{Namespace: "b", BorrowingLimitPercent: of(int32(0))}},
			[3]float64{0, 2, 2},
			[3]float64{0, 0, 0.98},
			[3]float64{0, 0, 1.01},
		},
		"guarantees beyond all there is": {
			[]Tenant{guaranteed("a", 100), guaranteed("b", 100)},
			[3]float64{2, 2, 0},
			[3]float64{0.48, 0.48, 0},
			[3]float64{0.52, 0.52, 0},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			m := newTenants(t, tc.tenants, 1000)
			gateways := []*gateway{m.start(m.a, tc.offered[0]), m.start(m.b, tc.offered[1]), m.start(m.c, tc.offered[2])}
			m.goOn(3 * time.Minute)
			got := m.served(4*time.Minute, gateways...)
			m.check()
			t.Logf("%.3f", got)
			for i := range got {
				if got[i] < tc.least[i] || got[i] > tc.most[i] {
					t.Errorf("%s got %.3f of the rate, want between %v and %v", []string{"a", "b", "c"}[i], got[i], tc.least[i], tc.most[i])
				}
			}
		})
	}
}

// A tenant that uses one of its lanes has all of its part with it.
func TestATenantsPartIsItsOwnWhicheverLaneItUses(t *testing.T) {
	m := newTenants(t, []Tenant{{Namespace: "a", GuaranteedPercent: 60}}, 700, 300)
	a, b, c := m.start(m.a, 2), m.start(m.b, 2), m.start(m.c, 2)
	m.goOn(3 * time.Minute)
	got := m.served(4*time.Minute, a, b, c)
	m.check()
	t.Logf("%.3f", got)
	if got[0] < 0.59 {
		t.Errorf("the tenant has %.3f of the rate by its lane of 30 %%, and was sold 0.6", got[0])
	}
}

// A tenant that comes back to its part has it within a report interval and c/(g·R), while others have borrowed all.
func TestReclaimIsWithinAReportIntervalAndTheCallsOwnTime(t *testing.T) {
	for _, large := range []float64{2000, 10_000, 60_000} {
		for name, shares := range map[string][]int32{"one lane": {1000}, "one of two lanes": {600, 400}} {
			t.Run(fmt.Sprint(large, " by ", name), func(t *testing.T) {
				m := newTenants(t, []Tenant{{Namespace: "a", GuaranteedPercent: 40}}, shares...)
				m.start(m.b, 1.5)
				m.start(m.c, 1.5)
				g := m.join("g", m.a)
				m.goOn(5 * time.Minute)
				o := g.offer(&load{large: large, pause: 20 * time.Second})
				m.goOn(4 * time.Minute)
				m.check()
				// The step of the model and two ways through the network come on top.
				bound := time.Duration(large/(0.4*rate)*1e9) + time.Second + step + 4*lan.delay
				worst := time.Duration(0)
				for _, w := range o.waits {
					worst = max(worst, w)
				}
				t.Logf("worst %v of %d, bound %v", worst, len(o.waits), bound)
				if len(o.waits) < 4 || worst > bound {
					t.Errorf("%d calls went, one waited %v; the bound is %v", len(o.waits), worst, bound)
				}
			})
		}
	}
}

// Nobody waits for the policies of another tenant: an edit of one disturbs no other.
func TestEditsOfATenantDisturbNoOther(t *testing.T) {
	m := newTenants(t, []Tenant{{Namespace: "a", GuaranteedPercent: 50}}, 1000)
	a := m.start(m.a, 0.45)
	m.start(m.b, 2)
	m.goOn(time.Minute)
	term := a.draws[0].Term()
	edits := 0
	got := []float64{0}
	for range 60 {
		edits++
		own := []plan.Limit{tokens(fmt.Sprint("own", edits%3), perMinute, perMinute)}
		m.policy("c", "chat", "acct", 40, lanes(1000), own...)
		m.policy("b", "chat", "acct", 40, lanes(300, 700), own...)
		got[0] += m.served(2*time.Second, a)[0] / 60
	}
	m.check()
	if got[0] < 0.44 {
		t.Errorf("the tenant had %.3f of the rate, and offered 0.45 of its 0.5", got[0])
	}
	if a.draws[0].Term() != term {
		t.Error("a new term began for a tenant that nobody edited")
	}
}
