// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator_test

import (
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/bubble"
	"github.com/headgate-dev/headgate/internal/testing/drawer"
)

// check that no interval had more than the limit allows, and say how near it came.
func (p *provider) check(t *testing.T) {
	t.Helper()
	t.Logf("the most of any interval was %.1f of %v, %.0f in all", p.worst, p.burst, p.total)
	if e := p.excess(); e > 0 {
		t.Errorf("arrivals exceeded burst and rate by %v", e)
	}
}

// C10: gateways that offer 1.5 times the limit use it, and never more of it; 2 become 10 and 2 again.
// Fault C10: Each replica held the whole limit, and each new one started with a full bucket.
// Headgate: What gateways hold together never exceeds the limit while they come, go, crash and are replaced, and a new one
// starts with nothing but its safe share.
func TestC10GatewaysShareOneLimit(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w, r, p := drawn(t)
		defer r.kill()
		var all []*drawing
		for i := range 2 {
			someone(i)
			all = append(all, w.draw(w.pod("ns", name(i), nil), p, small(750)))
		}
		time.Sleep(10 * time.Second)
		if used := p.over(func() { time.Sleep(time.Minute) }); used < 0.98 {
			t.Errorf("two gateways used %.3f of the rate", used)
		}
		for i := range 8 {
			someone(i)
			all = append(all, w.draw(w.pod("ns", name(2+i), nil), p, small(750)))
		}
		time.Sleep(10 * time.Second)
		if used := p.over(func() { time.Sleep(time.Minute) }); used < 0.98 {
			t.Errorf("ten gateways used %.3f of the rate", used)
		}
		leaveDrawings(all[2:])
		if used := p.over(func() { time.Sleep(time.Minute) }); used < 0.98 {
			t.Errorf("two again used %.3f of the rate", used)
		}
		leaveDrawings(all[:2])
		p.check(t)
	})
}

// Idle gateways hold a level and no rate: one that is busy among them reaches what it could alone.
func TestOneHotGatewayAmongIdleOnes(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w, r, p := drawn(t)
		defer r.kill()
		var all []*drawing
		for i := range 9 {
			all = append(all, w.draw(w.pod("ns", name(i), nil), p, drawer.Load{}))
		}
		all = append(all, w.draw(w.pod("ns", "hot", nil), p, small(1500)))
		defer leaveDrawings(all)
		time.Sleep(10 * time.Second)
		if used := p.over(func() { time.Sleep(time.Minute) }); used < 0.98 {
			t.Errorf("it used %.3f of the rate", used)
		}
		p.check(t)
	})
}

// A large call goes from any gateway as a whole, beside small ones that would take everything.
func TestLargeCallsAreGrantedWhole(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w, r, p := drawn(t)
		defer r.kill()
		plan := drawPlan("ns", 2)
		route := &plan.Policies[0].Routes[0]
		p.burst = 60_000
		route.Limits[0].Burst = 60_000
		route.Lanes = append(route.Lanes, route.Lanes[0])
		route.Lanes[0].Name, route.Lanes[0].SharePermille, route.Lanes[0].LargestCallTokens = "batch", 500, 10_000
		route.Lanes[1].SharePermille = 500
		r.setPlan(plan)
		var all []*drawing
		for i := range 3 {
			all = append(all, w.draw(w.pod("ns", name(i), nil), p, small(750)))
		}
		batch := w.draw(w.pod("ns", "batch", nil), p, drawer.Load{Bulk: 10_000}, func(o *drawer.Options) { o.Lane = "batch" })
		defer leaveDrawings(append(all, batch))
		time.Sleep(10 * time.Second)
		used := p.over(func() { time.Sleep(80 * time.Second) })
		if calls := batch.Spent("requests"); used < 0.97 {
			t.Errorf("they used %.3f of the rate, %v large calls", used, calls)
		}
		if got := p.by["batch"]; got < 0.8*0.5*drawnRate*90 {
			t.Errorf("the large calls got %v tokens of %v", got, 0.5*drawnRate*90)
		}
		p.check(t)
	})
}

// A grant takes a batch and the way: nobody waits for the next report. After a rest it takes a millisecond.
func TestGrantsComeWithinABatch(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w, r, p := drawn(t)
		defer r.kill()
		worst, best, n := time.Duration(0), time.Hour, 0
		d := w.draw(w.pod("ns", "a", nil), p, small(500), func(o *drawer.Options) {
			o.Heard.Answered = func(d time.Duration) { worst, best, n = max(worst, d), min(best, d), n+1 }
		})
		time.Sleep(30 * time.Second)
		d.leave()
		if n < 20 || worst > 20*time.Millisecond {
			t.Errorf("%d draws were answered, the slowest after %v", n, worst)
		}
		if best > 2*time.Millisecond {
			t.Errorf("no draw after a rest was answered before %v", best)
		}
	})
}
