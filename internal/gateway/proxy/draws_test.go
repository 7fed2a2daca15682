// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/ledger"
	"github.com/headgate-dev/headgate/internal/plan"
)

// coordinator is a pool that answers a gateway's draws at once.
type coordinator struct {
	g    *Gateway
	pool *pool.Pool
}

func newCoordinator(g *Gateway, limits ...plan.Limit) *coordinator {
	cfg := pool.Config{MaxHolders: 4}
	for _, l := range limits {
		cfg.Budgets = append(cfg.Budgets, ledger.Budget(l, 4))
	}
	return &coordinator{g, pool.New(cfg, pool.Leader{Epoch: 1, First: true}, time.Now())}
}

// serve answers what is due for a time.
func (c *coordinator) serve(t *testing.T, d time.Duration) {
	t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		for _, draw := range c.g.Draws(false, time.Now()) {
			c.answer(t, draw)
		}
	}
}

func (c *coordinator) answer(t *testing.T, draw Draw) {
	t.Helper()
	r := draw.Report
	r.Holder = "g"
	if err := c.pool.Report(&r, time.Now()); err != nil {
		t.Fatal(err)
	}
	c.pool.Advance(time.Now())
	if grant, ok := c.pool.Grant(pool.Key{Holder: "g", Incarnation: r.Incarnation}, time.Now()); ok {
		grant.Holder = ""
		c.g.Receive(draw.Policy, draw.Provider, &grant, time.Now())
	}
}

func TestSharedGatewayStartsOnItsSafeShareAndSpendsWhatItIsGranted(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) { answerOK(w) })
	simulate(t, s, onePolicy(), func(w *world) {
		w.gateway.opts.Shared, w.gateway.opts.Fresh, w.gateway.opts.Incarnation = true, true, 7
		limit := perMinute("input-tokens", plan.InputTokens, 480_000)
		route := anthropicRoute(limit)
		route.Deadline.DefaultMillis = 20_000
		w.gateway.Apply(onePolicy(route), time.Now())
		// At its start the pool may be heard any moment, and is waited for, but not for long.
		a := w.ask(60_000)
		if a.status != http.StatusTooManyRequests || a.took > 2100*time.Millisecond || !strings.Contains(a.body, "safe share 60k/min: no coordinator") {
			t.Errorf("a call that the safe share cannot serve in time: answer %d %s", a.status, a.body)
		}
		if a = w.ask(60_000); a.status != http.StatusTooManyRequests || a.took > 10*time.Millisecond {
			t.Errorf("later: answer %d after %s", a.status, a.took)
		}
		// Half of 8,000 a second among 4 gateways, when what has come meanwhile is spent.
		for spent := 0; w.ask(100).took == 0; spent++ {
			if spent > 1000 {
				t.Fatal("a safe share without an end")
			}
		}
		a = w.ask(100)
		if want := 100 * time.Millisecond; a.status != http.StatusOK || a.took < want || a.took > want+10*time.Millisecond {
			t.Errorf("on the safe share: answer %d after %s", a.status, a.took)
		}
		if out := w.figures("anthropic").member.Outage(time.Now()); !out.Silent || out.Mode != "Safe" || out.Total < 100*time.Millisecond {
			t.Errorf("without a coordinator: %+v", out)
		}
		c := newCoordinator(w.gateway, limit)
		alone := time.Since(w.start)
		c.serve(t, 10*time.Second)
		out := w.figures("anthropic").member.Outage(time.Now())
		if out.Silent || out.Total > alone+100*time.Millisecond {
			t.Errorf("with one: %+v", out)
		}
		// A call of half a minute's tokens waits for no more than the pool has to gather.
		done := make(chan answer, 1)
		go func() { done <- w.ask(40_000) }()
		c.serve(t, time.Second)
		if a := <-done; a.status != http.StatusOK || a.took > 200*time.Millisecond {
			t.Errorf("a large call: answer %d after %s", a.status, a.took)
		}
		time.Sleep(time.Minute)
		if level := w.figures("anthropic").level("input-tokens"); level > 2000 {
			t.Errorf("without a lease the level is %v", level)
		}
		w.atRest()
	})
}

// What a route draws on is asked for at once when a plan brings it, and given back at the end.
func TestDrawsFollowThePlan(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) { answerOK(w) })
	simulate(t, s, onePolicy(), func(w *world) {
		g := w.gateway
		g.opts.Shared, g.opts.Incarnation = true, 7
		if _, ok := g.NextDraw(time.Now()); ok || len(g.Draws(true, time.Now())) > 0 {
			t.Error("a route without limits draws")
		}
		limit := perMinute("input-tokens", plan.InputTokens, 480_000)
		select {
		case <-g.Hastened():
		default:
		}
		g.Apply(onePolicy(anthropicRoute(limit)), time.Now())
		select {
		case <-g.Hastened():
		default:
			t.Error("nobody is told that a route came")
		}
		if at, ok := g.NextDraw(time.Now()); !ok || at.After(time.Now()) {
			t.Errorf("the first draw is due at %v, %v", at, ok)
		}
		c := newCoordinator(g, limit)
		c.serve(t, 3*time.Second)
		w.ask(100)
		c.serve(t, 3*time.Second)
		last := g.Drain(time.Now())
		if len(last) != 1 || !last[0].Report.Draining {
			t.Fatalf("%+v", last)
		}
		held := last[0].Report.Counts[0].Held
		if held != 0 {
			t.Errorf("%v is kept", held)
		}
	})
}
