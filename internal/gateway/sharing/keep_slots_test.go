// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"slices"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/plan"
)

// TestC4EditsUnderCallsLeakNoSlots: a limit of calls in flight is removed, added, or counts other models while calls are
// under way. When these have ended all slots are there, and no more.
func TestC4EditsUnderCallsLeakNoSlots(t *testing.T) {
	const slots = 4
	with := func(models ...string) plan.Route {
		r := few(slots, 1000)
		r.Limits[0].Models = models
		r.Limits = append(r.Limits, plan.Limit{Name: "rpm", Budget: plan.Requests, Amount: 6000, WindowSeconds: 60, Burst: 6000})
		return r
	}
	without := with()
	without.Limits = without.Limits[1:]
	for name, tc := range map[string]struct {
		from, to plan.Route
		lasts    time.Duration
	}{
		"removed and added again":         {with(), without, 2 * time.Second},
		"counts others and these again":   {with(), with("other"), 2 * time.Second},
		"removed for a moment":            {with(), without, 10 * time.Second},
		"counts others for a moment":      {with(), with("other"), 10 * time.Second},
		"added":                           {without, with(), 10 * time.Second},
		"counted others, and counts them": {with("other"), with(), 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1, tc.from, 2)
			n := w.join("g", true)
			w.run(5 * time.Second)
			// One is kept for the other gateway that there may be.
			for range slots - 1 {
				n.ask(1, 0, time.Minute)
			}
			for i := 0; i < 90 && len(n.going) < slots-1; i++ {
				w.tick(time.Millisecond) // no call lasts less than a tenth of a second
			}
			early := slices.Clone(n.going)
			if len(early) != slots-1 {
				t.Fatalf("%d calls are under way", len(early))
			}
			for _, r := range early {
				r.ends = w.now.Add(tc.lasts)
			}
			for _, route := range []plan.Route{tc.to, with()} {
				w.route = route
				if !w.pool.Apply(w.config(), w.now) {
					w.lead()
				}
				for _, m := range w.members {
					m.Configure(route, w.most, w.now)
				}
				w.run(3 * time.Second)
			}
			for range 2 * slots {
				n.ask(1, 0, time.Hour)
			}
			for range 20_000 {
				for _, r := range n.going {
					if !slices.Contains(early, r) {
						r.ends = w.now.Add(time.Minute)
					}
				}
				w.tick(time.Millisecond)
			}
			if len(n.going) != slots-1 {
				t.Errorf("%d calls are under way, %d wait", len(n.going), len(n.waiting))
			}
		})
	}
}
