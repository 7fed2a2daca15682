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

func TestCountsAreWrittenAsPeopleSayThem(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 999: "999", 4000: "4k", 38_499: "38k", 427_000: "427k", 1.9e6: "1.9M", 2e6: "2M", 2.5e9: "2.5G"} {
		if got := Rounded(v); got != want {
			t.Errorf("Rounded(%v) = %s, want %s", v, got, want)
		}
	}
	if got := Described(400_000, time.Minute); got != "400k/min" {
		t.Errorf("Described = %s", got)
	}
}

func TestSafeSharesOfAllGatewaysStayBelowTheLimit(t *testing.T) {
	l := plan.Limit{Name: "t", Budget: plan.InputTokens, Amount: 400_000, WindowSeconds: 60, Burst: 400_000}
	for _, n := range []int32{0, 1, 4, 40, 1000} {
		s := safeShare(l, n)
		if total := s.RatePerSecond * float64(max(n, 1)); total > rate(l)/2+1e-9 {
			t.Errorf("%d gateways take %v of %v a second", n, total, rate(l))
		}
	}
	if b := bucket(l, &Share{RatePerSecond: 1e9, Capacity: 1e12}); b.Rate > rate(l) || b.Capacity > 400_000 {
		t.Errorf("a share raises the declared limit: %+v", b)
	}
	if s := safeShare(plan.Limit{Budget: plan.InFlight, Amount: 64}, 4); s.Capacity != 8 {
		t.Errorf("safe slots %v", s.Capacity)
	}
	if s := safeShare(plan.Limit{Budget: plan.InFlight, Amount: 0}, 4); s.Capacity != 0 {
		t.Errorf("of no slots %v are safe", s.Capacity)
	}
}

// TestWaitingIsBoundedOverAllLanes: the bounds of a gate reach its scheduler.
func TestWaitingIsBoundedOverAllLanes(t *testing.T) {
	g := New(Options{MaxBytes: 1000}, plan.Route{}, 1, time.Unix(0, 0))
	if cfg := g.configLocked(); cfg.MaxBytes != 1000 || cfg.MaxDepth != maxWaiting {
		t.Errorf("bounded by %d calls and %d bytes", cfg.MaxDepth, cfg.MaxBytes)
	}
}

// An edit that only names limits otherwise fills none: what was spent stays spent, and who is in flight stays in flight.
func TestC12RenamedLimitsAreNotFilled(t *testing.T) {
	limits := func(names ...string) []plan.Limit {
		return []plan.Limit{
			{Name: names[0], Budget: plan.InputTokens, Amount: 1000, WindowSeconds: 60, Burst: 1000},
			{Name: names[1], Budget: plan.InputTokens, Amount: 5000, WindowSeconds: 60, Burst: 5000, Models: []string{"m"}},
			{Name: names[2], Budget: plan.InFlight, Amount: 1, Burst: 1},
			{Name: names[3], Budget: plan.Requests, Amount: 10, WindowSeconds: 60, Burst: 10},
		}
	}
	now := time.Now()
	route := plan.Route{Name: "r", Limits: limits("a", "b", "c", "d"), Lanes: []plan.Lane{{Name: "default", SharePermille: 1000, MaxDepth: 10}}}
	g := New(Options{Facts: facts.Facts{Charges: facts.AsProduced}}, route, 1, now)
	defer g.Close()
	first := ticket(900, 10)
	if v := g.Enter(first, now); v.State != budget.Admitted {
		t.Fatalf("%+v", v)
	}
	for _, names := range [][]string{{"a2", "b2", "c2", "d2"}, {"b2", "a2", "c2", "d2"}, {"a", "b", "c", "d"}} {
		route.Limits = limits(names...)
		g.Configure(route, 1, now)
		left := map[string]float64{}
		for _, l := range g.Figures(now).Limits {
			left[l.Name] = l.Level
		}
		if left[names[0]] > 100 || left[names[1]] > 4100 || left[names[2]] != 0 || left[names[3]] != 9 {
			t.Errorf("named %v: %v", names, left)
		}
	}
	g.ReleaseAt(first, Settlement{Kind: Kept}, now)
	// A name that another limit gets is not its level.
	route.Limits = limits("z", "b", "c", "d")
	route.Limits = append(route.Limits, plan.Limit{Name: "a", Budget: plan.OutputTokens, Amount: 70, WindowSeconds: 60, Burst: 70})
	g.Configure(route, 1, now)
	if all := g.Figures(now).Limits; all[0].Level > 100 || all[4].Level != 70 {
		t.Errorf("a name for another limit: %+v", all)
	}
	// One that counts other models, or another window, is another limit.
	route.Limits = limits("a", "b", "c", "d")[1:]
	route.Limits = append(route.Limits, plan.Limit{Name: "hour", Budget: plan.InputTokens, Amount: 9000, WindowSeconds: 3600, Burst: 9000})
	g.Configure(route, 1, now)
	for _, l := range g.Figures(now).Limits {
		if l.Name == "hour" && l.Level != 9000 {
			t.Errorf("a new limit has %v", l.Level)
		}
	}
}
