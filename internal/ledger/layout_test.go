// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/plan"
)

func of[T any](v T) *T { return &v }

// shop is an account with two tenants that have a part of their own, and one that has not.
func shop(w *world) (a, b, c Route) {
	w.sold(Account{
		Name: "acct", MaxGateways: 20, Limits: []plan.Limit{tokens("input", 600_000, 100_000), requests("requests", 6000, 1000)},
		Tenants: []Tenant{
			{Namespace: "a", GuaranteedPercent: 50, LendablePercent: of(int32(40)), Weight: 3},
			{Namespace: "b", GuaranteedPercent: 20, BorrowingLimitPercent: of(int32(10))},
			{Namespace: "gone", GuaranteedPercent: 10},
		},
	})
	a = w.policy("a", "chat", "acct", 4, lanes(400, 600), tokens("own", 60_000, 60_000))
	b = w.policy("b", "chat", "acct", 4, lanes(1000))
	c = w.policy("c", "chat", "acct", 4, lanes(200, 200))
	return a, b, c
}

func TestPoolOfAnAccount(t *testing.T) {
	w := newWorld(t, 1, lan)
	a, _, _ := shop(w)
	second := w.policy("b", "batch", "acct", 4, lanes(1000))
	l := w.lead(time.Hour)
	if len(l.pools) != 1 {
		t.Fatalf("%d pools, want one", len(l.pools))
	}
	s := l.pools[Key{Account: "acct"}]
	var budgets []string
	for _, b := range s.cfg.Budgets {
		budgets = append(budgets, fmt.Sprint(b.Name, " ", b.MaxHolders))
	}
	if diff := cmp.Diff([]string{"input 20", "requests 20", "a/chat/openai:own 4"}, budgets); diff != "" {
		t.Errorf("budgets (-want +got):\n%s", diff)
	}
	shares, groups := map[string]float64{}, map[string]string{}
	for _, lane := range s.cfg.Lanes {
		shares[lane.Name], groups[lane.Name] = lane.Share, lane.Group
	}
	prefix := func(r Route) string { return strconv.FormatUint(l.routes[r].number, 36) + "/" }
	for _, want := range []struct {
		lane, group string
		share       float64
	}{
		{prefix(a) + "lane0", "a", 0.2},
		{prefix(a) + "default", "a", 0.3},
		// Two policies of one tenant have half of its part each.
		{prefix(Route{"b", "chat", "openai"}) + "default", "b", 0.1},
		{prefix(second) + "default", "b", 0.1},
		{prefix(Route{"c", "chat", "openai"}) + "lane0", "c", 0},
		{prefix(Route{"c", "chat", "openai"}) + "default", "c", 0},
	} {
		if got, ok := shares[want.lane]; !ok || math.Abs(got-want.share) > 1e-12 || groups[want.lane] != want.group {
			t.Errorf("lane %s has %v of group %q, want %v of %q", want.lane, got, groups[want.lane], want.share, want.group)
		}
	}
	wantGroups := []budget.Group{{Name: "a", Weight: 3, Unlent: 0.6}, {Name: "b", Weight: 1}, {Name: "c", Weight: 1}}
	if diff := cmp.Diff(wantGroups, s.cfg.Groups, cmp.Comparer(func(x, y float64) bool { return math.Abs(x-y) < 1e-12 })); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
	// The own limit knows its route's lanes alone, with their own shares.
	want := []pool.LaneShare{{Lane: prefix(a) + "lane0", Share: 0.4}, {Lane: prefix(a) + "default", Share: 0.6}}
	if diff := cmp.Diff(want, s.cfg.Budgets[2].Lanes); diff != "" {
		t.Errorf("lanes of the own limit (-want +got):\n%s", diff)
	}
	if len(s.cfg.Shadows) != 2 || s.cfg.Shadows[0].Of != "input" || math.Abs(s.cfg.Shadows[0].Rate-3000) > 1e-9 ||
		math.Abs(s.cfg.Shadows[0].Capacity-0.3*95_000) > 1e-9 || len(s.cfg.Shadows[0].Lanes) != 2 {
		t.Errorf("shadows of the borrowing limit: %+v", s.cfg.Shadows)
	}
}

// What a route may touch is what its plan and its account have.
func TestARouteReachesItsOwnAlone(t *testing.T) {
	w := newWorld(t, 1, fate{})
	a, b, _ := shop(w)
	l := w.lead(time.Hour)
	for _, r := range []Route{a, b} {
		l.Expect(r, "g", w.clock())
	}
	report := func(r Route) error {
		return l.Report(r, &pool.Report{
			Holder: "g", Incarnation: 7, Sequence: 1,
			Counts: []pool.Count{{Budget: "a/chat/openai:own"}, {Budget: "input"}, {Budget: "acct:input"}},
			Wants:  []pool.Want{{Lane: "1/default", Units: []pool.Amount{{Budget: "acct:input", Units: 10}, {Budget: "a/chat/openai:own", Units: 5}}}},
		}, w.clock())
	}
	w.now += 20 * time.Second
	if err := report(b); err != nil {
		t.Fatal(err)
	}
	l.Advance(w.clock())
	to := l.Changed(nil)
	if want := []Recipient{{b, "g", 7}}; !cmp.Equal(want, to) {
		t.Fatalf("changed: %v, want %v", to, want)
	}
	g, ok := l.Grant(to[0], w.clock())
	if !ok {
		t.Fatal("no grant")
	}
	if len(g.Totals) != 1 || g.Totals[0].Budget != "acct:input" || g.Totals[0].Units < 10 {
		t.Errorf("it is told of %v, want acct:input alone, of which it asked for 10", g.Totals)
	}
	if g.Holder != "g" || len(g.Lanes) != 1 || g.Lanes[0].Lane != plan.DefaultLane {
		t.Errorf("an unknown lane is not the default one: %+v", g)
	}
	// Two pods of one name, in two namespaces, are two holders.
	if err := report(a); err != nil {
		t.Fatal(err)
	}
	if n := l.pools[Key{Account: "acct"}].pool.Figures(w.clock()).Holders; n != 2 {
		t.Errorf("%d holders, want 2", n)
	}
}

func TestReportsThatAreRefused(t *testing.T) {
	w := newWorld(t, 1, fate{})
	a, _, _ := shop(w)
	lost := w.policy("d", "chat", "nobody", 4, lanes(1000))
	r := &pool.Report{Holder: "g", Incarnation: 1, Sequence: 1}
	idle := New(Options{})
	if err := idle.Report(a, r, w.clock()); !errors.Is(err, ErrNotLeading) {
		t.Errorf("a ledger that does not lead: %v", err)
	}
	l := w.lead(time.Hour)
	l.Expect(a, "g", w.clock())
	l.Expect(lost, "g", w.clock())
	tests := map[string]struct {
		route Route
		with  pool.Report
		want  error
	}{
		"an unknown route":     {Route{"a", "other", "openai"}, *r, ErrUnknownRoute},
		"an unknown account":   {lost, *r, ErrNoPool},
		"an unknown gateway":   {a, pool.Report{Holder: "h", Incarnation: 1, Sequence: 1}, ErrNotExpected},
		"of a later leader":    {a, pool.Report{Holder: "g", Incarnation: 1, Sequence: 1, Term: pool.Term{Epoch: 1 << 60}}, pool.ErrFenced},
		"too many counts":      {a, pool.Report{Holder: "g", Incarnation: 1, Sequence: 1, Counts: make([]pool.Count, 65)}, pool.ErrBounds},
		"too many wants":       {a, pool.Report{Holder: "g", Incarnation: 1, Sequence: 1, Wants: make([]pool.Want, 65)}, pool.ErrBounds},
		"too much in one want": {a, pool.Report{Holder: "g", Incarnation: 1, Sequence: 1, Wants: []pool.Want{{Units: make([]pool.Amount, 65)}}}, pool.ErrBounds},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if err := l.Report(tc.route, &tc.with, w.clock()); !errors.Is(err, tc.want) {
				t.Errorf("Report = %v, want %v", err, tc.want)
			}
		})
	}
	if err := l.Report(a, r, w.clock()); err != nil {
		t.Errorf("a good report is refused: %v", err)
	}
	if f := l.Figures(w.clock()); f.Refused != uint64(len(tests)) {
		t.Errorf("%d counted as refused, want %d", f.Refused, len(tests))
	}
}
