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

// TestWhatShutsAnAccountIsAskedAgain: a provider that says once that no call fits is asked by one call each hour, and not
// believed any longer when that is served.
func TestWhatShutsAnAccountIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(facts.AsProduced)
		defer g.Close()
		enters := func(what string, want budget.State) *Ticket {
			t.Helper()
			c := ticket(100, 10)
			if v := g.Enter(c, time.Now()); v.State != want {
				t.Fatalf("%s: %+v", what, v)
			}
			c.Sent = time.Now()
			return c
		}
		first := enters("nothing is known", budget.Admitted)
		shut := reading(plan.InputTokens, 1, 0)
		g.Observe(first, shut, time.Now())
		g.Release(first, Settlement{Kind: Billed, Usage: dialect.Usage{Input: 100, Output: 10}})

		for range 3 {
			enters("no call fits", budget.Refused)
			time.Sleep(askAgain - time.Second)
			enters("just before an hour is over", budget.Refused)
			time.Sleep(time.Second)
			asks := enters("after an hour", budget.Admitted)
			enters("beside the one that asks", budget.Refused)
			time.Sleep(time.Minute)
			g.Observe(asks, shut, time.Now())
			g.Release(asks, Settlement{Kind: Rejected})
		}

		time.Sleep(askAgain)
		served := enters("an hour later", budget.Admitted)
		time.Sleep(time.Second)
		g.Succeeded(served)
		g.Release(served, Settlement{Kind: Billed, Usage: dialect.Usage{Input: 100, Output: 10}})
		enters("after one was served in spite of it", budget.Admitted)
	})
}

// TestOfManyThatWaitOneAsks: what waits for something else when the hour is over must not all go past the mirror.
func TestOfManyThatWaitOneAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(facts.AsProduced)
		defer g.Close()
		first := ticket(100, 10)
		g.Enter(first, time.Now())
		g.Observe(first, reading(plan.InputTokens, 1, 0), time.Now())
		g.Release(first, Settlement{Kind: Rejected})
		time.Sleep(askAgain)
		g.Lower("requests", -10, time.Now())
		var all []*Ticket
		for range 5 {
			c := ticket(100, 10)
			if v := g.Enter(c, time.Now()); v.State != budget.Queued {
				t.Fatalf("%+v", v)
			}
			all = append(all, c)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		went := 0
		for _, c := range all {
			if g.Verdict(c).State == budget.Admitted {
				went++
			}
		}
		if went != 1 {
			t.Errorf("%d of %d calls went past what the provider said", went, len(all))
		}
	})
}

// TestAWordThatIsKeptIsNotForgotten: a provider that states its limit once, in a refusal say, and serves what that allows for hours
// is not sent all at once then, whether there was room all the time or calls waited for it.
func TestAWordThatIsKeptIsNotForgotten(t *testing.T) {
	for name, every := range map[string]time.Duration{"with room": 30 * time.Second, "with none": 6 * time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGate(facts.AsProduced)
				defer g.Close()
				first := ticket(100, 10)
				g.Enter(first, time.Now())
				g.Observe(first, reading(plan.InputTokens, 1000, 0), time.Now())
				g.Release(first, Settlement{Kind: Rejected})
				for range int(3 * askAgain / every) {
					c := ticket(100, 10)
					for g.Enter(c, time.Now()); g.Verdict(c).State == budget.Queued; {
						time.Sleep(100 * time.Millisecond)
					}
					c.Sent = time.Now()
					time.Sleep(every)
					g.Succeeded(c)
					g.Release(c, Settlement{Kind: Billed, Usage: dialect.Usage{Input: 100, Output: 10}})
				}
				went := 0
				for range 50 {
					c := ticket(100, 10)
					if g.Enter(c, time.Now()).State == budget.Admitted {
						went++
					}
				}
				if went > 10 {
					t.Errorf("%d calls of 100 go at once past a bucket of 1,000", went)
				}
			})
		})
	}
}
