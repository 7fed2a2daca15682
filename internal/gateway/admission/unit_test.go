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

// TestC12ADebtOfTokensIsNoneOfRequests: a limit keeps its name, and counts requests from an edit on. It owes the part of them that
// it owed of tokens, and what a call under way took of tokens is none of them.
func TestC12ADebtOfTokensIsNoneOfRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		route := plan.Route{
			Name:   "r",
			Limits: []plan.Limit{{Name: "main", Budget: plan.InputTokens, Amount: 60_000, WindowSeconds: 60, Burst: 10_000}},
			Lanes:  []plan.Lane{{Name: "default", SharePermille: 1000, MaxDepth: 100, MaxWaitMillis: 60_000}},
		}
		g := New(Options{Facts: facts.Facts{Charges: facts.AsProduced}}, route, 1, time.Now())
		defer g.Close()
		owes, under := ticket(9000, 10), ticket(1000, 10)
		g.Enter(owes, time.Now())
		g.Enter(under, time.Now())
		g.Release(owes, Settlement{Kind: Billed, Usage: dialect.Usage{Input: 13_000, Output: 10}})
		if level := g.Balance("main", time.Now()); level != -4000 {
			t.Fatalf("%v tokens are left", level)
		}
		waits := ticket(2000, 10)
		if v := g.Enter(waits, time.Now()); v.State != budget.Queued {
			t.Fatalf("a call is %+v", v)
		}
		route.Limits = []plan.Limit{{Name: "main", Budget: plan.Requests, Amount: 60, WindowSeconds: 60, Burst: 60}}
		g.Configure(route, 1, time.Now())
		g.Release(under, Settlement{Kind: Billed, Usage: dialect.Usage{Input: 5000, Output: 10}})
		if level := g.Balance("main", time.Now()); level != -24 {
			t.Errorf("%v requests are left of 60, want -24 as -4000 tokens were of 10000", level)
		}
		next := ticket(10, 10)
		if v := g.Enter(next, time.Now()); v.State != budget.Queued || v.Wait != 26*time.Second {
			t.Errorf("the next call is %+v, want 26 s for 24 requests, the call that waits, and this one", v)
		}
		for _, c := range []*Ticket{waits, next} {
			<-c.Ready()
			if v := g.Verdict(c); v.State != budget.Admitted {
				t.Errorf("a call that waited is %+v", v)
			}
			g.Release(c, Settlement{Kind: Billed, Usage: dialect.Usage{Input: 10, Output: 10}})
		}
		if f := g.Figures(time.Now()); f.Reserved != 0 || f.Limits[0].Spent != 2 {
			t.Errorf("%v stays reserved, and %v requests are counted of two", f.Reserved, f.Limits[0].Spent)
		}
	})
}
