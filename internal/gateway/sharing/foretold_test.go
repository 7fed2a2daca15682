// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/plan"
)

// ingest is the demo's tenant with large calls: 160,000 tokens a minute with a burst of 72,000, for calls of 60,000.
func ingest() plan.Route {
	return plan.Route{
		Name: "anthropic",
		Limits: []plan.Limit{
			{Name: "requests", Budget: plan.Requests, Amount: 1000, WindowSeconds: 60, Burst: 1000},
			{Name: "input-tokens", Budget: plan.InputTokens, Amount: 160_000, WindowSeconds: 60, Burst: 72_000},
		},
		Lanes: []plan.Lane{{Name: "default", SharePermille: 1000, MaxDepth: 100}},
	}
}

func (w *world) run(d time.Duration) {
	for range int(d / (50 * time.Millisecond)) {
		w.tick(50 * time.Millisecond)
	}
}

// Eight calls of 60,000 in two minutes, half as much again as the rate, each with 60 seconds: the last can go 52 seconds after it
// came, since of what is before it the half is collected. One gateway has them, or three by turns.
func TestTheDemosLargeCallsAllGo(t *testing.T) {
	for _, gateways := range []int{1, 3} {
		w := newWorld(t, 1, ingest(), 10)
		w.run(time.Minute)
		for i := range gateways {
			w.join(string(rune('a'+i)), true)
		}
		for i := range 8 {
			if v := w.members[i%gateways].ask(60_000, 0, 60*time.Second); v.State == budget.Refused {
				t.Errorf("%d gateways, call %d: %+v", gateways, i, v)
			}
			w.run(15 * time.Second)
		}
		w.run(time.Minute)
		went := 0
		for _, n := range w.members {
			if went += n.went; len(n.refused) > 0 {
				t.Errorf("%d gateways: %v", gateways, n)
			}
		}
		if went != 8 {
			t.Errorf("%d gateways: %d of 8 went", gateways, went)
		}
	}
}

// What a lane's guarantee serves in time is not lost, neither at once nor later, whatever the other lanes ask for: 8,000 at a time of
// 400 a second, by one gateway or any of three. Of three one call of each other one may come before, and each of these takes 20 s.
func TestNoCallWithinAGuaranteeIsLost(t *testing.T) {
	for _, gateways := range []int{1, 3} {
		asked, went, declined := 0, 0, 0
		for seed := range int64(60) {
			w := newWorld(t, seed, shared(""), 5)
			for i := range gateways {
				w.join(string(rune('a'+i)), true)
			}
			asked += w.guaranteed(float64(seed%4), time.Duration(4+20*(gateways-1))*time.Second)
			w.run(90 * time.Second)
			for _, n := range w.members {
				went += n.large
				declined += n.declined
			}
		}
		t.Logf("%d gateways: %d asked, %d went", gateways, asked, went)
		if asked < 300 || went < asked {
			t.Errorf("%d gateways: of %d calls %d went and %d were declined at once", gateways, asked, went, declined)
		}
	}
}

// A gateway that has only begun knows nothing yet: a call that the pool serves in time is not refused because the safe share would
// not, and if the pool is not heard it is told so soon.
func TestWhoComesBeforeTheFirstGrantIsNotJudgedByTheSafeShare(t *testing.T) {
	for _, heard := range []bool{true, false} {
		w := newWorld(t, 1, shared(""), 5)
		w.cut = !heard
		n := w.join("a", true)
		w.run(50 * time.Millisecond)
		if v := n.ask(8000, 0, 25*time.Second); v.State != budget.Queued {
			t.Fatalf("heard %t: %+v", heard, v)
		}
		w.run(2*trial + time.Second)
		if refused := n.refused[budget.ReasonDeadline]; refused == 1 == heard {
			t.Errorf("heard %t: %v", heard, n)
		}
		w.run(20 * time.Second)
		if went := n.large == 1; went != heard {
			t.Errorf("heard %t: %v", heard, n)
		}
	}
}

// guaranteed asks for large calls that the guaranteed rate would serve in time if nothing was saved, with some time to spare, beside
// small ones. It says for how many.
func (w *world) guaranteed(load float64, spare time.Duration) (asked int) {
	free := w.now
	for range 1500 {
		w.tick(50 * time.Millisecond)
		w.arrive(load, false)
		if w.rand.Float64() > 0.03 {
			continue
		}
		patience := time.Duration(25+w.rand.Intn(80)) * time.Second
		if start := later(free, w.now).Add(20 * time.Second); start.Add(spare).Before(w.now.Add(patience)) {
			free = start
			asked++
			n := w.pick()
			if v := n.ask(8000, 0, patience); v.State == budget.Refused {
				n.declined++
			}
		}
	}
	return asked
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// A call that cannot go in time asks the pool, and is told within a round trip; once the pool has spoken of its lane others are told
// at once.
func TestWhoIsLateIsToldBySayingOfThePool(t *testing.T) {
	w := newWorld(t, 1, ingest(), 10)
	n := w.join("a", true)
	w.run(2 * time.Second)
	if v := n.ask(60_000, 0, 10*time.Second); v.State != budget.Queued {
		t.Fatalf("%+v: the pool has not spoken", v)
	}
	w.run(500 * time.Millisecond)
	if n.refused[budget.ReasonDeadline] != 1 {
		t.Errorf("%v", n)
	}
	if v := n.ask(60_000, 0, 10*time.Second); v.State != budget.Refused || v.Limit != "input-tokens" || v.Wait < 15*time.Second || v.Wait > 25*time.Second {
		t.Errorf("%+v", v)
	}
}
