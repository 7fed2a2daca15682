// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"math"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
)

// A call that waits while the first answer tells of the provider's limit is charged to its mirror when it goes: what
// the provider reports after it is no news.
func TestAMirrorCountsCallsThatWaitedBeforeItWasKnown(t *testing.T) {
	now := epoch
	told := 0
	g := New(Options{
		Facts:   facts.Facts{Charges: facts.AsProduced},
		Clock:   func() time.Time { return now },
		Decided: func(*Ticket, Verdict) { told++ },
	}, plan.Route{
		Name:   "r",
		Limits: []plan.Limit{{Name: "tokens", Budget: plan.InputTokens, Amount: 60_000, WindowSeconds: 60, Burst: 60_000}},
		Lanes:  []plan.Lane{{Name: "default", SharePermille: 1000, MaxDepth: 10, MaxWaitMillis: 60_000}},
	}, 1, now)
	defer g.Close()
	enter := func(input float64) *Ticket {
		c := &Ticket{
			Account: Account{1, "m"}, Metered: true, Arrival: now, Deadline: now.Add(time.Minute), Sent: now,
			Estimate: Estimate{Input: input, InputAtLeast: input},
		}
		g.Enter(c, now)
		return c
	}
	first, second := enter(40_000), enter(30_000)
	if v := g.Verdict(second); v.State != budget.Queued {
		t.Fatalf("the second is %+v", v)
	}
	now = now.Add(time.Second)
	g.Observe(first, &dialect.Reading{Budgets: []dialect.BudgetReading{
		{Budget: plan.InputTokens, Limit: 400_000, Remaining: 300_000, RoundedTo: 1, Window: time.Minute},
	}}, now)
	mirror := g.groups[Account{1, "m"}].mirror(plan.InputTokens)
	before := g.sched.Level(mirror.id, now)
	now = now.Add(9 * time.Second)
	refilled := 9 * mirror.rate * slower
	second.Sent = now
	g.Advance(now)
	if told != 1 || g.Verdict(second).State != budget.Admitted {
		t.Fatalf("the second is %+v", g.Verdict(second))
	}
	if got, want := g.sched.Level(mirror.id, now), min(before+refilled, mirror.capacity)-30_000; math.Abs(got-want) > 1 {
		t.Errorf("the mirror holds %v, want %v", got, want)
	}
	g.ReleaseAt(second, Settlement{Kind: NotSent}, now)
	if got, want := g.sched.Level(mirror.id, now), min(before+refilled, mirror.capacity); math.Abs(got-want) > 1 {
		t.Errorf("after it was not sent the mirror holds %v, want %v", got, want)
	}
}
