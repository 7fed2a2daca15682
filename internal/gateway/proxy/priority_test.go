// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/gateway/spool"
	"github.com/headgate-dev/headgate/internal/gateway/tally"
	"github.com/headgate-dev/headgate/internal/plan"
)

func TestRefusalsSayWhyAndWhen(t *testing.T) {
	g := New(Options{Dialect: byName, Namespace: "team-support"})
	g.Apply(onePolicy(anthropicRoute(canonical...)), time.Now())
	cfg := g.table.Load().routes["anthropic"]
	c := &call{g: g, cfg: cfg, lane: tally.NewRoute().Lane("bulk"), sends: 1}
	v := admission.Verdict{Limit: "input-tokens", Amount: "400k/min", Wait: 9 * time.Second}
	const head = "headgate: team-support/support: anthropic/input-tokens (400k/min) is used up and "
	for reason, want := range map[budget.Reason]string{
		budget.ReasonDisplaced:  head + "a call of a higher priority took this one's place in the queue of lane bulk; fits in 9s. Not sent to Anthropic again.",
		budget.ReasonLanePaused: head + "the queues are nearly full: lane bulk takes no more calls until they are shorter; fits in 9s. Not sent to Anthropic again.",
		budget.ReasonQueueFull:  head + "the queue of lane bulk is full; fits in 9s. Not sent to Anthropic again.",
	} {
		v.Reason = reason
		if got := c.message(v, "anthropic/input-tokens"); got != want {
			t.Errorf("%s: %s", reason, got)
		}
	}
}

// ranked is a route of one call a minute with two lanes of five places each; calls that say so go first.
func ranked() plan.Route {
	r := anthropicRoute(perMinute("requests", plan.Requests, 1))
	r.Deadline.DefaultMillis = time.Hour.Milliseconds()
	first := plan.Lane{Name: "first", Header: &plan.Header{Name: "X-First"}, Priority: 10, SharePermille: 500, MaxDepth: 5, MaxWaitMillis: time.Hour.Milliseconds()}
	rest := first
	rest.Name, rest.Header, rest.Priority = plan.DefaultLane, nil, 0
	r.Lanes = []plan.Lane{first, rest}
	return r
}

// TestPausedLaneRefusesAtOnceAndTheFirstGoesOn: nearly full queues are kept for those that go first.
func TestPausedLaneRefusesAtOnceAndTheFirstGoesOn(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) { answerOK(w) })
	simulate(t, s, onePolicy(ranked()), func(w *world) {
		var all sync.WaitGroup
		ask := func(headers ...string) {
			all.Go(func() {
				if a := w.ask(10, headers...); a.status != http.StatusOK {
					t.Errorf("a call that was taken in got %d %s", a.status, a.body)
				}
			})
		}
		w.ask(10)
		for range 4 {
			ask()
			ask("X-First", "1")
		}
		time.Sleep(6 * time.Second)
		a := w.ask(10)
		if after, _ := strconv.Atoi(a.header.Get("Retry-After")); a.status != http.StatusTooManyRequests || a.header.Get(HeaderReason) != "LanePaused" ||
			a.header.Get("X-Should-Retry") != "false" || after < 5 || a.took > 50*time.Millisecond || !strings.Contains(a.body, "lane default takes no more calls") {
			t.Errorf("answer %d %v %s after %s", a.status, a.header, a.body, a.took)
		}
		if !w.figures("anthropic").gate.Figures(time.Now()).Lanes[1].Paused {
			t.Error("the figures do not say that the lane is paused")
		}
		ask("X-First", "1")
		all.Wait()
		if counts := w.figures("anthropic").lanes[1].Counts(); counts.Refused["LanePaused"] != 1 || counts.Ended[tally.Ended{Outcome: outcomeRefused, Reason: "LanePaused"}] != 1 {
			t.Errorf("counted as %v, %v", counts.Refused, counts.Ended)
		}
		w.atRest()
	})
}

// TestBodiesThatFillTheMemoryGiveWayToTheFirst: what waits may hold three quarters of the memory for bodies, and a call
// of a higher priority takes the place of the last of a lower one.
func TestBodiesThatFillTheMemoryGiveWayToTheFirst(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) { answerOK(w) })
	const tokens = 60_000 // 120 KB of text; three of them fit
	simulate(t, s, onePolicy(ranked()), func(w *world) {
		w.ask(10)
		answers := make([]answer, 4)
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() {
				if i == 3 {
					answers[i] = w.ask(tokens, "X-First", "1")
				} else {
					answers[i] = w.ask(tokens)
				}
			})
			time.Sleep(time.Second)
		}
		all.Wait()
		for i, want := range []string{"", "", "Displaced", ""} {
			if got := answers[i].header.Get(HeaderReason); got != want {
				t.Errorf("call %d got %d %s: %s", i, answers[i].status, got, answers[i].body)
			}
		}
		if answers[2].took > 2*time.Second {
			t.Errorf("the displaced call was told after %s", answers[2].took)
		}
		w.atRest()
	}, func(o *Options) { o.Memory = spool.NewBudget(540_000) })
}
