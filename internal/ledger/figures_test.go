// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/headgate-dev/headgate/internal/plan"
)

func TestFairDivision(t *testing.T) {
	type part struct {
		claimant
		share, borrowed, lent float64
	}
	one := func(guaranteed, used float64, waits bool) claimant {
		return claimant{guaranteed: guaranteed, lendable: 1, most: 100, weight: 1, used: used, waits: waits}
	}
	with := func(c claimant, change func(*claimant)) claimant {
		change(&c)
		return c
	}
	tests := map[string][]part{
		"alone":     {{one(0, 0, false), 100, 0, 0}},
		"two alike": {{one(0, 50, true), 50, 50, 0}, {one(0, 50, true), 50, 50, 0}},
		"an idle one may count on its part by max-min": {{one(0, 100, true), 100, 100, 0}, {one(0, 0, false), 50, 0, 0}},
		"by weight":                      {{with(one(0, 75, true), func(c *claimant) { c.weight = 3 }), 75, 75, 0}, {one(0, 25, true), 25, 25, 0}},
		"small ones take what they need": {{one(0, 10, false), 100.0 / 3, 10, 0}, {one(0, 45, true), 45, 45, 0}, {one(0, 45, true), 45, 45, 0}},
		"a guarantee is lent":            {{one(60, 0, false), 80, 0, 60}, {one(0, 100, true), 100, 100, 0}},
		"what is nobody's goes first":    {{one(60, 0, false), 80, 0, 10}, {one(0, 50, true), 100, 50, 0}},
		"what is not lendable is not":    {{with(one(60, 0, false), func(c *claimant) { c.lendable = 0 }), 80, 0, 0}, {one(0, 40, true), 40, 40, 0}},
		"a borrowing limit":              {{with(one(10, 30, true), func(c *claimant) { c.most = 30 }), 30, 20, 0}, {one(0, 70, true), 70, 70, 0}},
		"guarantees under overload":      {{one(60, 60, true), 60, 0, 0}, {one(40, 40, true), 40, 0, 0}, {one(0, 0, true), 0, 0, 0}},
	}
	for name, parts := range tests {
		t.Run(name, func(t *testing.T) {
			var all []*claimant
			for i := range parts {
				all = append(all, &parts[i].claimant)
			}
			divideFairly(all, 100)
			for i, p := range parts {
				if c := all[i]; math.Abs(c.share-p.share) > 1e-9 || math.Abs(c.borrowed-p.borrowed) > 1e-9 || math.Abs(c.lent-p.lent) > 1e-9 {
					t.Errorf("%d: share %v, borrowed %v, lent %v; want %v, %v, %v", i, c.share, c.borrowed, c.lent, p.share, p.borrowed, p.lent)
				}
			}
		})
	}
}

// Who wants more than there is may count on no less than its own, and all who do have no more than there is.
func TestFairDivisionGivesWhatThereIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const rate = 100.0
		left, sum := rate, 0.0
		var all []*claimant
		for i := range rapid.IntRange(1, 8).Draw(t, "tenants") {
			g := rapid.Float64Range(0, left).Draw(t, fmt.Sprint("guaranteed ", i))
			left -= g
			c := &claimant{
				guaranteed: g, lendable: rapid.Float64Range(0, 1).Draw(t, "lendable"), weight: float64(rapid.IntRange(1, 5).Draw(t, "weight")),
				most: min(rate, g+rapid.Float64Range(0, 100).Draw(t, "borrowing")), waits: true,
			}
			all = append(all, c)
		}
		divideFairly(all, rate)
		capped := true
		for i, c := range all {
			if math.IsNaN(c.share) || c.share < c.guaranteed-1e-9 || c.share > c.most+1e-9 {
				t.Fatalf("%d has a share of %v, is guaranteed %v and may have %v", i, c.share, c.guaranteed, c.most)
			}
			sum += c.share
			capped = capped && c.share >= c.most-1e-9
		}
		if sum > rate+1e-6 || !capped && sum < rate-1e-6 {
			t.Fatalf("the shares add up to %v of %v", sum, rate)
		}
		for _, c := range all {
			for _, d := range all {
				// Max-min: who is not at its bound has no less for its weight than anybody else beside its own.
				if c.share < c.most-1e-9 && (c.share-c.guaranteed)/c.weight < (d.share-d.guaranteed)/d.weight-1e-6 {
					t.Fatalf("%+v has less than %+v", *c, *d)
				}
			}
		}
	})
}

func TestFiguresOfAnAccount(t *testing.T) {
	m := newTenants(t, []Tenant{{Namespace: "a", GuaranteedPercent: 40}, {Namespace: "b", GuaranteedPercent: 40}}, 400, 600)
	m.start(m.b, 1.5)
	m.start(m.c, 0.1)
	m.goOn(3 * time.Minute)
	f := m.leader().Figures(m.clock())
	acct := f.Accounts["acct"]
	if f.Holders != 2 || f.Pools != 1 || acct.Holders != 2 || acct.Silent != 0 || len(acct.Tenants) != 3 || len(acct.Limits) != 1 {
		t.Fatalf("%+v", f)
	}
	if l := acct.Limits[0]; !near(l.Used, perMinute, 0.05) || !near(l.Rate, perMinute, 0.01) || l.Capacity != 0.95*perMinute || l.Waiting <= 0 {
		t.Errorf("the account: %+v", l)
	}
	b := acct.Tenants[0]
	if b.Namespace != "b" || !near(b.Guaranteed, 0.4*perMinute, 0.01) || !near(b.Used, 0.9*perMinute, 0.05) ||
		!near(b.Borrowed, 0.5*perMinute, 0.1) || b.Waiting <= 0 || b.Holders != 1 {
		t.Errorf("the tenant that uses most: %+v", b)
	}
	a := f.Routes[m.a].Limits[0]
	if a.Name != "acct:input" || a.Used != 0 || !near(a.Guaranteed, 0.4*perMinute, 0.01) || a.Share < a.Guaranteed || !near(a.Lent, 0.4*perMinute, 0.05) {
		t.Errorf("the idle tenant's own figures: %+v", a)
	}
	if c := f.Routes[m.c].Limits[0]; c.Guaranteed != 0 || !near(c.Used, 0.1*perMinute, 0.1) || !near(c.Borrowed, 0.1*perMinute, 0.1) || c.Lent != 0 {
		t.Errorf("the tenant without a part of its own: %+v", c)
	}
}

// What nobody holds is a route's own to say: all of an own limit, of an account's the tenant's part.
func TestFiguresSayWhatIsNotGranted(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	l := manyPools(now)
	l.Lead(Leadership{Epoch: 1, First: true}, now)
	now = now.Add(time.Hour)
	l.Advance(now)
	n := 0
	for _, r := range l.Figures(now).Routes {
		for _, f := range r.Limits {
			n++
			if f.Level < 900 || f.Level > 1000 {
				t.Fatalf("%+v of a burst of 1,000", f)
			}
		}
	}
	if n == 0 {
		t.Error("no limit has figures")
	}
}

// The estimate of the next large call is about what it takes.
func TestTheEstimateOfTheNextLargeCall(t *testing.T) {
	for name, tc := range map[string]struct {
		busy float64
	}{"nobody waits": {0}, "others take all": {2}} {
		t.Run(name, func(t *testing.T) {
			m := newTenants(t, []Tenant{{Namespace: "a", GuaranteedPercent: 40}}, 1000)
			if tc.busy > 0 {
				m.start(m.b, tc.busy)
				m.start(m.c, tc.busy)
			}
			o := m.join("g", m.a).offer(&load{large: 60_000})
			m.goOn(5 * time.Minute)
			if len(o.waits) < 5 {
				t.Fatalf("%d calls went", len(o.waits))
			}
			told, took := time.Duration(0), time.Duration(0)
			const asked = 20
			for range asked {
				m.goOn(5 * time.Second)
				lane := m.leader().Figures(m.clock()).Routes[m.a].Lanes[0]
				if !lane.Known || lane.Binding != "acct:input" {
					t.Fatalf("nothing is known: %+v", lane)
				}
				told += lane.NextBulk / asked
			}
			for _, w := range o.waits {
				took += w / time.Duration(len(o.waits))
			}
			t.Logf("told %v, took %v", told, took)
			// One more is taken to come after the one that waits.
			if told < took/3 || told > 3*took+2*time.Second {
				t.Errorf("told %v, and it took %v", told, took)
			}
		})
	}
}

func TestFiguresAreBounded(t *testing.T) {
	w := newWorld(t, 1, lan)
	w.sold(Account{Name: "acct", MaxGateways: 10, Limits: []plan.Limit{tokens("input", 60_000, 60_000)}})
	for i := range 300 {
		w.policy(fmt.Sprint("ns", i), "chat", "acct", 2, lanes(1000))
	}
	for i := range 30 {
		w.policy(fmt.Sprint("many", i), "chat", "acct", 2, lanes(100, 100, 100, 100, 100, 100, 100, 300))
	}
	l := w.lead(time.Hour)
	f := l.Figures(w.clock()).Accounts["acct"]
	if len(f.Tenants) != TopTenants || f.Others != 330-f.Left-TopTenants || f.Left == 0 {
		t.Errorf("%d tenants, %d others, %d left", len(f.Tenants), f.Others, f.Left)
	}
	if lanes := len(l.pools[Key{Account: "acct"}].cfg.Lanes); lanes > maxLanes {
		t.Errorf("%d lanes", lanes)
	}
}

func TestWhatIsKeptIsBounded(t *testing.T) {
	l := New(Options{})
	accounts := make([]Account, MaxAccounts+10)
	for i := range accounts {
		accounts[i].Name = fmt.Sprint("a", i)
	}
	l.SetAccounts(accounts, start)
	if len(l.accounts) != MaxAccounts {
		t.Errorf("%d accounts", len(l.accounts))
	}
	r := plan.Route{Name: "openai", Lanes: lanes(1000), Limits: []plan.Limit{tokens("input", 1, 1)}}
	for i := range MaxNamespaces + 10 {
		p := &plan.Plan{}
		for k := range 6 {
			p.Policies = append(p.Policies, plan.Policy{Name: fmt.Sprint(k), MaxGateways: 1, Routes: []plan.Route{r}})
		}
		l.SetPlan(fmt.Sprint("ns", i), p, start)
	}
	if len(l.spaces) != MaxNamespaces || len(l.routes) != MaxRoutes {
		t.Errorf("%d namespaces with %d routes", len(l.spaces), len(l.routes))
	}
	id := Route{"ns0", "0", "openai"}
	for i := range maxMembers + 10 {
		l.Expect(id, fmt.Sprint(i), start)
	}
	l.Expect(id, string(make([]byte, MaxHolder+1)), start)
	l.Expect(Route{"ns0", "7", "openai"}, "g", start)
	if n := len(l.routes[id].members); n != maxMembers {
		t.Errorf("%d gateways", n)
	}
	for i := range MaxNamespaces + 10 {
		l.SetPlan(fmt.Sprint("ns", i), nil, start)
	}
	if len(l.spaces)+len(l.routes)+len(l.drawing) != 0 {
		t.Errorf("%d namespaces, %d routes and %d pools are left", len(l.spaces), len(l.routes), len(l.drawing))
	}
}

// Two holders whose names differ only where they are too long for a pool are two.
func TestLongNamesOfHoldersDiffer(t *testing.T) {
	r := &route{number: 7}
	long := string(make([]byte, 400))
	a, b := r.nameOf(long+"a"), r.nameOf(long+"b")
	if a == b || len(a) > maxPoolName || r.nameOf(long+"a") != a {
		t.Errorf("%d and %d bytes", len(a), len(b))
	}
}
