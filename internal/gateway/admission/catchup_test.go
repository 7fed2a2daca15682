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
	mirror := g.groups[metered{Account: Account{1, "m"}}].mirror(plan.InputTokens)
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

// TestWaitingCallsHeedWhatBecomesKnown: calls that wait for the policy's limit when the provider refuses one of them are
// held back like those that come later, whether the refusal fits a bucket or only a time; who cannot wait is told.
func TestWaitingCallsHeedWhatBecomesKnown(t *testing.T) {
	for name, refuse := range map[string]func(g *Gate, first *Ticket, now time.Time){
		"a time": func(g *Gate, first *Ticket, now time.Time) {
			g.Refused(first, &dialect.Reading{}, plan.Tokens, 9*time.Second, true, now)
		},
		"a bucket": func(g *Gate, first *Ticket, now time.Time) {
			r := &dialect.Reading{Budgets: []dialect.BudgetReading{
				{Budget: plan.InputTokens, Limit: 6000, Remaining: 0, RoundedTo: 1, Window: time.Minute},
			}}
			g.Observe(first, r, now)
			g.Refused(first, r, plan.InputTokens, 9*time.Second, true, now)
		},
	} {
		t.Run(name, func(t *testing.T) {
			now := epoch
			sent := map[*Ticket]time.Duration{}
			refused := map[*Ticket]Verdict{}
			g := New(Options{
				Facts: facts.Facts{Charges: facts.AsProduced},
				Clock: func() time.Time { return now },
				Decided: func(c *Ticket, v Verdict) {
					if v.State == budget.Admitted {
						sent[c] = now.Sub(epoch)
					} else {
						refused[c] = v
					}
				},
			}, plan.Route{
				Name:   "r",
				Limits: []plan.Limit{{Name: "requests", Budget: plan.Requests, Amount: 60, WindowSeconds: 60, Burst: 1}},
				Lanes:  []plan.Lane{{Name: "default", SharePermille: 1000, MaxDepth: 100, MaxWaitMillis: 60_000}},
			}, 1, now)
			defer g.Close()
			enter := func(patience time.Duration) *Ticket {
				c := &Ticket{
					Account: Account{1, "m"}, Metered: true, Arrival: now, Deadline: now.Add(patience), Sent: now,
					Estimate: Estimate{Input: 900, InputAtLeast: 900},
				}
				g.Enter(c, now)
				return c
			}
			first := enter(time.Minute)
			hurried := enter(5 * time.Second)
			patient := []*Ticket{enter(50 * time.Second), enter(50 * time.Second)}
			now = now.Add(500 * time.Millisecond)
			g.ReleaseAt(first, Settlement{Kind: Rejected}, now)
			refuse(g, first, now)
			for end := epoch.Add(40 * time.Second); ; {
				next, ok := g.Next(now)
				if !ok || next.After(end) {
					break
				}
				now = next
				g.Advance(now)
			}
			if v, ok := refused[hurried]; !ok || v.Reason != budget.ReasonDeadline || v.Wait < 4*time.Second {
				t.Errorf("the hurried call: %+v, sent %v", v, sent[hurried])
			}
			for i, c := range patient {
				if at, ok := sent[c]; !ok || at < 9500*time.Millisecond {
					t.Errorf("patient call %d went after %v, %t; %+v", i, at, ok, refused[c])
				}
			}
			for _, c := range patient {
				g.ReleaseAt(c, Settlement{Kind: NotSent}, now)
			}
			if g.held != 0 || g.waiting != 0 {
				t.Errorf("%d held, %d waiting", g.held, g.waiting)
			}
		})
	}
}
