// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"math"
	"math/rand"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
)

// account is one account's input tokens at a provider: what is really left, whoever calls.
type account struct {
	mu          sync.Mutex
	rate, burst float64
	level       float64
	at          time.Time
	refused     int
}

// take charges a call and returns what the response reports, rounded down to thousands, and for a refused one the
// wait in whole seconds.
func (a *account) take(cost float64) (remaining float64, wait time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	a.level, a.at = min(a.burst, a.level+a.rate*now.Sub(a.at).Seconds()), now
	if a.level < cost-1 {
		a.refused++
		wait = time.Duration(math.Ceil((cost-a.level)/a.rate)) * time.Second
	} else {
		a.level -= cost
	}
	return math.Floor(a.level/1000) * 1000, wait
}

// tenant is one gateway's load.
type tenant struct {
	gate     *Gate
	rand     *rand.Rand
	every    time.Duration
	tokens   float64
	errors   float64 // how far a call's tokens may be from what its text suggests
	deadline time.Duration

	mu                 sync.Mutex
	sent, atOnce, late int
	spent              float64
	latest             time.Duration
	callers            sync.WaitGroup
}

// run makes calls until end, and waits for their ends.
func (n *tenant) run(a *account, end time.Time) {
	for time.Now().Before(end) {
		tokens := n.tokens * (1 + n.errors*(2*n.rand.Float64()-1))
		latency := time.Duration(50+n.rand.Intn(400)) * time.Millisecond
		n.callers.Go(func() { n.call(a, tokens, latency) })
		time.Sleep(time.Duration(float64(n.every) * n.rand.ExpFloat64()))
	}
	n.callers.Wait()
}

func (n *tenant) call(a *account, tokens float64, latency time.Duration) {
	now := time.Now()
	est := n.gate.Estimator().Of(&dialect.Request{Model: "m", TextBytes: int64(n.tokens * 4), MaxOutputTokens: 16})
	t := &Ticket{
		Account: Account{1, "m"}, Metered: true, Arrival: now, Deadline: now.Add(n.deadline), Estimate: est,
		CallTime: latency,
	}
	v := n.gate.Enter(t, now)
	queued := v.State == budget.Queued
	for sends := 0; ; sends++ {
		if v.State == budget.Queued {
			<-t.Ready()
			v = n.gate.Verdict(t)
		}
		if v.State == budget.Refused {
			if sends == 0 {
				n.refused(queued, time.Since(now))
			}
			return
		}
		t.Sent = time.Now()
		remaining, wait := a.take(tokens)
		time.Sleep(latency)
		r := reading(plan.InputTokens, 400_000, remaining)
		r.Budgets[0].RoundedTo = 1000
		n.gate.Observe(t, r, time.Now())
		if wait == 0 {
			n.gate.Release(t, Settlement{Kind: Billed, Usage: dialect.Usage{Input: int64(tokens), Output: 16}})
			n.count(tokens)
			return
		}
		n.gate.Release(t, Settlement{Kind: Rejected})
		n.gate.Refused(t, r, plan.InputTokens, wait, true, time.Now())
		v = n.gate.Retry(t, time.Now().Add(wait), time.Now())
	}
}

func (n *tenant) refused(queued bool, after time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !queued {
		n.atOnce++
		return
	}
	n.late++
	n.latest = max(n.latest, after)
}

func (n *tenant) count(tokens float64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sent++
	n.spent += tokens
}

// loadGate is a gate of so many input tokens a minute, of which it has a share.
func loadGate(amount, burst int64, gateways float64) *Gate {
	f := facts.Facts{Name: "Anthropic", Charges: facts.AsProduced, ResetMeans: facts.ResetFull, CachedInputFree: true}
	lanes := []plan.Lane{{Name: "default", SharePermille: 1000, MaxDepth: 256, MaxWaitMillis: 50_000}}
	route := plan.Route{Name: "anthropic", Lanes: lanes, Limits: []plan.Limit{
		{Name: "requests", Budget: plan.Requests, Amount: 2000, WindowSeconds: 60, Burst: 2000},
		{Name: "input-tokens", Budget: plan.InputTokens, Amount: amount, WindowSeconds: 60, Burst: burst},
	}}
	g := New(Options{Facts: f, Shared: gateways > 1}, route, 4, time.Now())
	if gateways > 1 {
		g.SetShares(map[string]Share{
			"requests":     {RatePerSecond: 2000 / 60 / gateways, Capacity: 2000 / gateways},
			"input-tokens": {RatePerSecond: float64(amount) / 60 / gateways, Capacity: float64(burst) / gateways},
		}, time.Now())
	}
	return g
}

// Two gateways of a chat tenant at 1.5 times what they may, beside another tenant's large calls on the same
// account: with estimates that are off at first and never exact, with refunds, and a mirror that others drain,
// what is accepted is served, and the rest is declined as it comes.
func TestDeclinesComeAtOnceUnderOverload(t *testing.T) {
	for name, errors := range map[string]float64{"exact texts": 0, "texts 10 % off": 0.1, "texts 20 % off": 0.2} {
		t.Run(name, func(t *testing.T) {
			sent, atOnce, late, used := 0, 0, 0, 0.0
			for seed := range int64(6) {
				synctest.Test(t, func(t *testing.T) {
					chat := runTenants(seed, errors)
					for _, n := range chat {
						sent, atOnce, late = sent+n.sent, atOnce+n.atOnce, late+n.late
						// A full share, three minutes, and the patience of the last.
						used += n.spent / (24_000 + 2000*210) / 12
					}
				})
			}
			t.Logf("%d sent, %d declined at once, %d later, %.3f used", sent, atOnce, late, used)
			if late*400 > sent || errors == 0 && late > 0 || atOnce < sent/10 {
				t.Error("accepted calls are declined later")
			}
			if used < 0.95 {
				t.Error("the share is not used up")
			}
		})
	}
}

// runTenants runs the load and returns the chat tenant's gateways.
func runTenants(seed int64, errors float64) []*tenant {
	a := &account{rate: 400_000.0 / 60, burst: 120_000, level: 120_000, at: time.Now()}
	chat := func() *tenant {
		return &tenant{
			gate: loadGate(240_000, 48_000, 2), every: 667 * time.Millisecond, tokens: 2000, errors: errors,
			deadline: 30 * time.Second,
		}
	}
	bulk := &tenant{gate: loadGate(160_000, 72_000, 1), every: 15 * time.Second, tokens: 60_000, errors: errors, deadline: time.Minute}
	tenants := []*tenant{chat(), chat(), bulk}
	// Shares start empty.
	time.Sleep(35 * time.Second)
	var all sync.WaitGroup
	for i, n := range tenants {
		n.rand = rand.New(rand.NewSource(seed*10 + int64(i)))
		all.Go(func() { n.run(a, time.Now().Add(3*time.Minute)) })
	}
	all.Wait()
	for _, n := range tenants {
		n.gate.Close()
	}
	return tenants[:2]
}
