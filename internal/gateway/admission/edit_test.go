// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
)

// TestC12WaitingCallsAreCountedByTheLimitsThatThereAre: twenty calls of a thousand tokens wait at sixty a minute when an edit
// changes which limits count them. A limit that is added, or counts them from now on, is theirs; one that counts them no more
// keeps none of them waiting.
func TestC12WaitingCallsAreCountedByTheLimitsThatThereAre(t *testing.T) {
	requests := func(perMinute int64, models ...string) plan.Limit {
		return plan.Limit{Name: "requests", Budget: plan.Requests, Amount: perMinute, WindowSeconds: 60, Burst: 1, Models: models}
	}
	input := func(models ...string) plan.Limit {
		return plan.Limit{Name: "input", Budget: plan.InputTokens, Amount: 6000, WindowSeconds: 60, Burst: 1000, Models: models}
	}
	slots := plan.Limit{Name: "slots", Budget: plan.InFlight, Amount: 3, Burst: 3}
	for name, tc := range map[string]struct {
		from, to []plan.Limit
		want     int
	}{
		"none":                           {[]plan.Limit{requests(60)}, []plan.Limit{requests(60)}, 1 + 11},
		"a limit is added":               {[]plan.Limit{requests(60)}, []plan.Limit{requests(60), input()}, 1 + 2},
		"a limit counts them, too":       {[]plan.Limit{requests(60), input("n")}, []plan.Limit{requests(60), input("n", "m")}, 1 + 2},
		"one that counts others":         {[]plan.Limit{requests(60)}, []plan.Limit{requests(60), input("n")}, 1 + 11},
		"calls at once are limited":      {[]plan.Limit{requests(60)}, []plan.Limit{requests(60), slots}, 1 + 3},
		"a limit counts them no more":    {[]plan.Limit{requests(60)}, []plan.Limit{requests(60, "n")}, 20},
		"another takes its place":        {[]plan.Limit{input()}, []plan.Limit{requests(60)}, 1 + 1 + 11},
		"a limit of others becomes ours": {[]plan.Limit{input("n"), requests(60)}, []plan.Limit{input()}, 1 + 1 + 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			route := plan.Route{Name: "r", Limits: tc.from, Lanes: []plan.Lane{{Name: "default", SharePermille: 1000, MaxDepth: 100}}}
			g := New(Options{Facts: facts.Facts{Charges: facts.AsProduced}}, route, 1, time.Now())
			defer g.Close()
			var all []*Ticket
			for range 20 {
				c := ticket(1000, 10)
				c.Deadline = time.Time{}
				g.Enter(c, time.Now())
				all = append(all, c)
			}
			route.Limits = tc.to
			g.Configure(route, 1, time.Now())
			time.Sleep(11*time.Second + 500*time.Millisecond)
			synctest.Wait()
			went := 0
			for _, c := range all {
				if g.Verdict(c).State == budget.Admitted {
					went++
				}
			}
			for _, c := range all {
				g.Release(c, Settlement{Kind: NotSent})
			}
			if went != tc.want {
				t.Errorf("%s: %d calls went, want %d", name, went, tc.want)
			}
			if f := g.Figures(time.Now()); f.Reserved != 0 {
				t.Errorf("%s: %v stays reserved", name, f.Reserved)
			}
		})
	}
}
