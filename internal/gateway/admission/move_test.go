// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
)

// TestC12AnotherProviderIsNotHeldToWhatTheLastOneSaid: an edit sends a route's calls elsewhere. The former one's limit, a wait
// that it asked for, and what it still answers to calls under way bind nobody there; what the policy counted stays counted. Who
// waited for the first waits on.
func TestC12AnotherProviderIsNotHeldToWhatTheLastOneSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		route := plan.Route{
			Name: "r", Dialect: "OpenAI", BaseURL: "https://one.example",
			Limits: []plan.Limit{{Name: "requests", Budget: plan.Requests, Amount: 100, WindowSeconds: 60, Burst: 100}},
			Lanes:  []plan.Lane{{Name: "default", SharePermille: 1000, MaxDepth: 100}},
		}
		g := New(Options{Facts: facts.Facts{Charges: facts.MaxAtAdmission, ResetMeans: facts.ResetFull}}, route, 1, time.Now())
		defer g.Close()
		to := func(c *Ticket) *Ticket {
			c.Dialect, c.BaseURL, c.Sent = route.Dialect, route.BaseURL, time.Now()
			return c
		}
		under, refused := to(ticket(10, 10)), to(ticket(10, 10))
		g.Enter(under, time.Now())
		g.Enter(refused, time.Now())
		one := reading(plan.Requests, 5, 0)
		g.Observe(refused, one, time.Now())
		g.Release(refused, Settlement{Kind: Rejected})
		g.Refused(refused, one, plan.Requests, 40*time.Second, true, time.Now())
		g.Refused(refused, one, plan.InFlight, 40*time.Second, true, time.Now())
		waits := to(ticket(10, 10))
		if v := g.Enter(waits, time.Now()); v.State != budget.Queued {
			t.Fatalf("at the first provider a call is %+v", v)
		}

		route.Dialect, route.BaseURL = "Anthropic", "https://two.example"
		g.Configure(route, 1, time.Now())
		g.Observe(under, one, time.Now())
		g.Refused(under, one, "", 40*time.Second, true, time.Now())
		if f := g.Figures(time.Now()).Limits[0]; f.ProviderKnown || f.ProviderBinding {
			t.Errorf("of the second provider, which said nothing, the figures are %+v", f)
		}
		for i := range 20 {
			if v := g.Enter(to(ticket(10, 10)), time.Now()); v.State != budget.Admitted {
				t.Fatalf("call %d at the second provider is %+v", i, v)
			}
		}
		if left := g.Figures(time.Now()).Limits[0].Level; left != 100-22 {
			t.Errorf("of a hundred requests the policy has %v left", left)
		}
		if v := g.Verdict(waits); v.State != budget.Queued {
			t.Errorf("who waits for the first is %+v", v)
		}
		last := to(ticket(10, 10))
		g.Enter(last, time.Now())
		share := func(shared bool) {
			g.lock()
			defer g.unlock()
			g.shared = shared
		}
		share(true) // where reports only tighten
		g.Observe(last, reading(plan.Requests, 1000, 900), time.Now())
		if level := g.sched.Level(g.groupOf(last).mirror(plan.Requests).id, time.Now()); level < 800 {
			t.Errorf("the second provider has 900 requests left, and the mirror %v", level)
		}
		share(false)
		cached := to(ticket(10_000, 10))
		route.Limits = append(route.Limits, plan.Limit{Name: "input", Budget: plan.InputTokens, Amount: 60_000, WindowSeconds: 60, Burst: 60_000})
		g.Configure(route, 1, time.Now())
		g.Enter(cached, time.Now())
		g.Release(cached, Settlement{Kind: Billed, Usage: dialect.Usage{Input: 200, Output: 5, CachedRead: 8000, CacheOutside: true}})
		if spent := g.Figures(time.Now()).Limits[1].Spent; spent != 200 {
			t.Errorf("the second provider charges 200 tokens, and %v are counted", spent)
		}
	})
}
