// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/plan"
)

// putInForce has the pool and all members take an edited route.
func (w *world) putInForce(to plan.Route) {
	w.route = to
	if !w.pool.Apply(w.config(), w.now) {
		w.lead()
	}
	for _, m := range w.members {
		m.Configure(to, w.most, w.now)
		m.hear()
	}
}

// oneASecond is a route of 60 requests a minute, and of what is added.
func oneASecond(added ...plan.Limit) plan.Route {
	return plan.Route{
		Name: "anthropic", Outage: "Safe",
		Limits: append([]plan.Limit{{Name: "rpm", Budget: plan.Requests, Amount: 60, WindowSeconds: 60, Burst: 4}}, added...),
		Lanes:  []plan.Lane{{Name: "default", SharePermille: 1000, MaxDepth: 200, MaxWaitMillis: 60_000}},
	}
}

// TestC12AnAddedLimitOfPlentyRefusesNobodyWhoWaits: what is added has no share yet, and is not judged by the safe one of a fleet
// without a coordinator.
func TestC12AnAddedLimitOfPlentyRefusesNobodyWhoWaits(t *testing.T) {
	for _, added := range []plan.Limit{
		{Name: "tpm", Budget: plan.InputTokens, Amount: 600_000, WindowSeconds: 60, Burst: 600_000},
		{Name: "rpd", Budget: plan.Requests, Amount: 600_000, WindowSeconds: 86400, Burst: 600_000},
		{Name: "tpd", Budget: plan.InputTokens, Amount: 600_000_000, WindowSeconds: 86400, Burst: 600_000_000},
		{Name: "slots", Budget: plan.InFlight, Amount: 400, Burst: 400},
	} {
		for _, most := range []int32{2, 10, 50} {
			t.Run(fmt.Sprint(added.Name, most), func(t *testing.T) {
				w := newWorld(t, 1, oneASecond(), most)
				n := w.join("g", true)
				w.run(10 * time.Second)
				for range 20 {
					n.ask(500, 0, 40*time.Second)
				}
				w.run(time.Second)
				w.putInForce(oneASecond(added))
				w.run(time.Minute)
				if len(n.refused) > 0 || len(n.waiting) > 0 {
					t.Error(n)
				}
			})
		}
	}
}

// TestC12ACapThatThePoolHasNotHeardOfIsNotUsedUp, so that calls wait for it.
func TestC12ACapThatThePoolHasNotHeardOfIsNotUsedUp(t *testing.T) {
	w := newWorld(t, 1, oneASecond(), 2)
	n := w.join("g", true)
	w.run(10 * time.Second)
	w.route = oneASecond(plan.Limit{Name: "day", Budget: plan.InputTokens, Amount: 600_000_000, WindowSeconds: 86400, Burst: 600_000_000})
	n.Configure(w.route, w.most, w.now)
	n.hear()
	for range 19 {
		w.run(150 * time.Millisecond)
		n.ask(500, 0, 50*time.Second)
	}
	if !w.pool.Apply(w.config(), w.now) {
		w.lead()
	}
	w.run(50 * time.Second)
	if len(n.refused) > 0 || len(n.waiting) > 0 {
		t.Error(n)
	}
}

// TestC12CallsThatAnEditAdmitsAreCounted by the limits that it leaves: calls wait for a limit, which is replaced by one
// of calls in flight.
func TestC12CallsThatAnEditAdmitsAreCounted(t *testing.T) {
	for _, most := range []int32{2, 4} {
		w := newWorld(t, 1, oneASecond(), most)
		n := w.join("g", true)
		w.run(10 * time.Second)
		for range 60 {
			n.ask(1, 0, time.Hour)
		}
		to := few(40, 1000)
		to.Lanes = oneASecond().Lanes
		w.putInForce(to)
		for range 300 {
			for _, r := range n.going {
				r.ends = w.now.Add(time.Hour)
			}
			if counted := n.lanes[0].inUse[0]; counted != float64(len(n.going)) {
				t.Fatalf("of at most %d gateways: %d are under way, and %g counted", most, len(n.going), counted)
			}
			w.tick(10 * time.Millisecond)
		}
		if len(n.going) == 0 {
			t.Error("nothing is under way")
		}
	}
}

// TestC4ALimitThatComesBackHasNotTwiceItsSlots: long calls are under way while a limit of calls in flight is removed and comes
// back.
func TestC4ALimitThatComesBackHasNotTwiceItsSlots(t *testing.T) {
	const slots, held = 40, 30
	with := few(slots, 1000)
	with.Limits = append(with.Limits, plan.Limit{Name: "rpm", Budget: plan.Requests, Amount: 60_000, WindowSeconds: 60, Burst: 60_000})
	without := with
	without.Limits = with.Limits[1:]
	w := newWorld(t, 1, with, 2)
	a, b := w.join("a", true), w.join("b", true)
	run := func(length time.Duration) {
		for range length / (10 * time.Millisecond) {
			for _, r := range slices.Concat(a.going, b.going) {
				r.ends = w.now.Add(time.Hour)
			}
			w.tick(10 * time.Millisecond)
		}
	}
	w.run(5 * time.Second)
	for range held {
		a.ask(1, 0, 0)
	}
	run(20 * time.Second)
	for _, r := range []plan.Route{without, with} {
		w.putInForce(r)
		run(3 * time.Second)
	}
	for range 2 * slots {
		a.ask(1, 0, 0)
		b.ask(1, 0, 0)
	}
	run(30 * time.Second)
	if n := len(a.going) + len(b.going); len(a.going) < held || n > slots {
		t.Errorf("%d and %d calls are under way", len(a.going), len(b.going))
	}
	// What they took comes back with their ends.
	for _, r := range slices.Concat(a.going, b.going) {
		r.ends = w.now
	}
	for range 3000 {
		w.tick(10 * time.Millisecond)
	}
	if used := a.lanes[0].inUse[0] + b.lanes[0].inUse[0]; used != float64(len(a.going)+len(b.going)) {
		t.Errorf("%g slots are in use, and %d and %d calls under way", used, len(a.going), len(b.going))
	}
}
