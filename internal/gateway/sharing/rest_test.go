// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/plan"
)

const (
	// oneWay is the longest that a message takes; ticks are a millisecond.
	oneWay = 4 * time.Millisecond
	// there and back, and a tick at either end.
	answered = 2*oneWay + 4*time.Millisecond
)

// rested are gateways that had no call for a minute, on so many tokens a minute.
func rested(t *testing.T, perMinute int64, gateways int) *world {
	t.Helper()
	w := newWorld(t, 1, plan.Route{
		Name: "openai",
		Limits: []plan.Limit{
			{Name: "rpm", Budget: plan.Requests, Amount: perMinute / 100, WindowSeconds: 60, Burst: perMinute / 100},
			{Name: "tpm", Budget: plan.InputTokens, Amount: perMinute, WindowSeconds: 60, Burst: perMinute},
		},
		Lanes: []plan.Lane{
			{Name: "bulk", SharePermille: 400, MaxDepth: 50, MaxWaitMillis: 120_000},
			{Name: "default", SharePermille: 600, MaxDepth: 1000, MaxWaitMillis: 60_000},
		},
	}, 20)
	w.delay = oneWay / 2
	for range gateways {
		w.join(string(rune('a'+len(w.members))), true)
	}
	for range 6000 {
		w.tick(10 * time.Millisecond)
	}
	return w
}

// longest brings a call of so many tokens each millisecond, and returns the longest that one waited.
func longest(w *world, n *node, calls int, tokens float64) (most time.Duration) {
	for i := 0; i < calls || len(n.waiting) > 0; i++ {
		if i < calls {
			n.ask(tokens, 1, 0)
		}
		w.tick(time.Millisecond)
		for _, t := range n.waiting {
			most = max(most, w.now.Sub(t.Arrival))
		}
	}
	return most
}

// TestCallsAfterARestWaitForOneAnswer: where there is plenty, those that follow the first at once do not wait for a draw of their own.
func TestCallsAfterARestWaitForOneAnswer(t *testing.T) {
	w := rested(t, 6_000_000, 3)
	if got := longest(w, w.members[1], 100, 500); got > answered {
		t.Errorf("one of a hundred calls after a rest waited %v, an answer takes %v at the most", got, answered)
	}
}

// TestCallsAfterARestAreAskedForSoon: where a gateway is granted two intervals' refill at once and no more, though the pool is full, it
// draws again when it has spent that, and not an interval later: ten calls need five draws, a tenth of an interval apart.
func TestCallsAfterARestAreAskedForSoon(t *testing.T) {
	w := rested(t, 120_000, 3)
	if got := longest(w, w.members[1], 10, 2000); got > 4*interval/10+answered {
		t.Errorf("one of ten calls after a rest waited %v", got)
	}
}

// TestWhatWasGrantedAheadComesBack within two reports.
func TestWhatWasGrantedAheadComesBack(t *testing.T) {
	w := rested(t, 6_000_000, 3)
	longest(w, w.members[1], 1, 500)
	if held := w.held("tpm"); held < 70_000 {
		t.Fatalf("%v is out: nothing was granted ahead", held)
	}
	for range 350 {
		w.tick(10 * time.Millisecond)
	}
	if held := w.held("tpm"); held > 500 {
		t.Errorf("%v is out three intervals after a call of 500", held)
	}
}

func (w *world) held(name string) float64 {
	for _, b := range w.pool.Figures(w.now).Budgets {
		if b.Name == name {
			return b.Held
		}
	}
	w.t.Fatalf("no budget %s", name)
	return 0
}
