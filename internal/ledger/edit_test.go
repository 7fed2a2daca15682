// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/plan"
)

// level is P of a limit in the pool that has it; NaN if none has.
func (w *world) level(key Key, name string) float64 {
	w.leader().settle(w.clock())
	s := w.leader().pools[key]
	if s == nil {
		return math.NaN()
	}
	for _, b := range s.pool.Figures(w.clock()).Budgets {
		if b.Name == name {
			return b.Level
		}
	}
	return math.NaN()
}

func near(a, b, part float64) bool { return math.Abs(a-b) <= part*math.Abs(b)+1e-6 }

// No edit refills a limit, whatever else it changes.
func TestEditsKeepLevels(t *testing.T) {
	acct := Key{Account: "acct"}
	chat := Route{"a", "chat", "openai"}
	own := Key{Route: chat}
	input := ownName(chat, "own")
	// A minute's amount is 60,000; the levels are read half full.
	type edit struct {
		account, own bool
		do           func(w *world)
		// key and name are where the limit is afterwards, want its level as a part of what it was.
		key  Key
		name string
		want float64
	}
	sell := func(w *world, burst int64, more ...plan.Limit) {
		w.sold(Account{Name: "acct", MaxGateways: 4, Limits: append([]plan.Limit{tokens("input", 60_000, burst)}, more...)})
	}
	write := func(w *world, account string, burst int64, more ...plan.Limit) {
		w.policy("a", "chat", account, 4, lanes(400, 600), append([]plan.Limit{tokens("own", 60_000, burst)}, more...)...)
	}
	tests := map[string]edit{
		"another lane":            {do: func(w *world) { w.policy("a", "chat", "", 4, lanes(300, 300, 400), tokens("own", 60_000, 60_000)) }, key: own, name: "own", want: 1},
		"a larger burst":          {do: func(w *world) { write(w, "", 120_000) }, key: own, name: "own", want: 1},
		"half the burst":          {do: func(w *world) { write(w, "", 30_000) }, key: own, name: "own", want: 0.5},
		"another limit":           {do: func(w *world) { write(w, "", 60_000, tokens("day", 1000, 1000)) }, key: own, name: "own", want: 1},
		"another and half":        {do: func(w *world) { write(w, "", 30_000, tokens("day", 1000, 1000)) }, key: own, name: "own", want: 0.5},
		"the new limit":           {do: func(w *world) { write(w, "", 60_000, tokens("day", 1000, 1000)) }, key: own, name: "day", want: 0},
		"an account is named":     {account: true, do: func(w *world) { write(w, "acct", 60_000) }, key: acct, name: input, want: 1},
		"and the account's":       {account: true, own: true, do: func(w *world) { w.policy("b", "new", "acct", 4, lanes(1000), tokens("own", 60, 60)) }, key: acct, name: "input", want: 1},
		"an account is not named": {account: true, own: true, do: func(w *world) { write(w, "", 60_000) }, key: own, name: "own", want: 1},
		"a limit of the account":  {account: true, own: true, do: func(w *world) { sell(w, 60_000, requests("requests", 600, 600)) }, key: acct, name: "input", want: 1},
		"half the account":        {account: true, own: true, do: func(w *world) { sell(w, 30_000, requests("requests", 600, 600)) }, key: acct, name: "input", want: 0.5},
		"of another kind": {do: func(w *world) {
			w.policy("a", "chat", "", 4, lanes(1000), plan.Limit{Name: "own", Budget: plan.Tokens, Amount: 1, WindowSeconds: 1, Burst: 1000})
		}, key: own, name: "own", want: 1000.0 / 60_000},
		"the limit goes and comes": {do: func(w *world) {
			write(w, "", 60_000)
			w.policy("a", "chat", "", 4, lanes(1000), tokens("day", 1000, 1000))
			w.goOn(9 * time.Second)
			write(w, "", 60_000)
		}, key: own, name: "own", want: 1},
		"the policy goes and comes": {do: func(w *world) {
			p := w.plans["a"]
			w.leader().SetPlan("a", nil, w.clock())
			w.goOn(5 * time.Second)
			w.leader().SetPlan("a", p, w.clock())
		}, key: own, name: "own", want: 1},
		"long after its window": {do: func(w *world) {
			p := w.plans["a"]
			w.leader().SetPlan("a", nil, w.clock())
			w.goOn(2 * time.Minute)
			w.leader().SetPlan("a", p, w.clock())
		}, key: own, name: "own", want: 0},
		"the policy has another name": {do: func(w *world) {
			w.leader().SetPlan("a", nil, w.clock())
			w.policy("a", "talk", "", 4, lanes(1000), tokens("own", 60_000, 60_000))
		}, key: Key{Route: Route{"a", "talk", "openai"}}, name: "own", want: 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1, lan)
			sell(w, 60_000)
			account, key, limit := "", own, "own"
			if tc.own {
				account, key, limit = "acct", acct, "input"
				if tc.name == "own" {
					limit = input
				}
			}
			write(w, account, 60_000)
			w.lead(time.Hour)
			w.goOn(30 * time.Second)
			before := w.level(key, limit)
			if !near(before, 30_000, 0.01) {
				t.Fatalf("it has %v before the edit", before)
			}
			tc.do(w)
			if got := w.level(tc.key, tc.name); !near(got, tc.want*before, 0.005) {
				t.Errorf("it has %v after the edit, and had %v; want %v", got, before, tc.want*before)
			}
			w.check()
		})
	}
}

// What gateways hold goes on counting over edits, wherever the limit moves.
func TestEditsForgetNothingThatIsHeld(t *testing.T) {
	w := newWorld(t, 1, lan)
	w.sold(Account{Name: "acct", MaxGateways: 4, Limits: []plan.Limit{tokens("input", 600_000, 600_000)}})
	r := w.policy("a", "chat", "", 4, lanes(1000), tokens("own", 60_000, 60_000))
	w.lead(time.Hour)
	g := w.join("g", r)
	g.offer(&load{perSecond: 1, tokens: 500})
	w.goOn(70 * time.Second)
	accounts := []string{"acct", "", "acct", ""}
	for i, account := range accounts {
		w.policy("a", "chat", account, 4, lanes(1000), tokens("own", 60_000, 60_000))
		w.check()
		key, name := Key{Route: r}, "own"
		if account != "" {
			key, name = Key{Account: "acct"}, ownName(r, "own")
		}
		w.leader().settle(w.clock())
		held := 0.0
		for _, b := range w.leader().pools[key].pool.Figures(w.clock()).Budgets {
			if b.Name == name {
				held = b.Held + b.Unknown
			}
		}
		if have := g.draws[0].Balance("own", w.clock()); have > held+1e-6 {
			t.Fatalf("edit %d: the gateway has %v, the books have %v", i, have, held)
		}
		before := w.meters[ownName(r, "own")].total
		w.goOn(20 * time.Second)
		w.check()
		if served := w.meters[ownName(r, "own")].total - before; served < 0.9*20*500 {
			t.Errorf("edit %d: %v were served in 20 s", i, served)
		}
	}
}

// The level of a limit cannot be raised by editing it to and fro.
func TestEditingToAndFroGainsNothing(t *testing.T) {
	w := newWorld(t, 1, lan)
	r := w.policy("a", "chat", "", 4, lanes(1000), tokens("own", 60_000, 60_000))
	w.lead(time.Hour)
	w.join("g", r).offer(&load{perSecond: 10, tokens: 500})
	before := time.Duration(0)
	for i := range 200 {
		w.goOn(time.Duration(w.rand.Intn(3000)) * time.Millisecond)
		burst := []int64{60_000, 6000, 20_000}[i%3]
		var more []plan.Limit
		if i%2 == 0 {
			more = append(more, tokens(fmt.Sprint("more", i), 1_000_000, 1_000_000))
		}
		w.policy("a", "chat", "", 4, lanes(1000), append(more, tokens("own", 60_000, burst))...)
		if i%7 == 0 {
			w.policy("a", "chat", "", 4, lanes(1000), tokens("other", 1_000_000, 1_000_000))
			w.policy("a", "chat", "", 4, lanes(1000), tokens("own", 60_000, burst))
		}
		before = w.now
	}
	m := w.meters[ownName(r, "own")]
	if bound := 0.95*60_000 + 1; m.worst > bound {
		t.Errorf("an interval saw %v above the refill, the largest burst is %v", m.worst, bound)
	}
	if m.total > 1000*before.Seconds()+57_000 {
		t.Errorf("%v were spent in %v", m.total, before)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	m := newMemory()
	b := pool.Budget{Kind: budget.Continuous, Capacity: 100}
	name := func(i int) origin { return origin{limit: fmt.Sprint(i)} }
	for i := range 3 * maxMemos {
		// Some are remembered again and again.
		m.add(name(i%(2*maxMemos)), memo{known: pool.Known{Level: float64(i)}, window: time.Hour, at: start.Add(time.Duration(i))})
	}
	if len(m.of) > maxMemos || len(m.order) > maxMemos {
		t.Errorf("%d are remembered, in %d places", len(m.of), len(m.order))
	}
	if k, ok := m.recall(name(maxMemos-1), &b, start.Add(time.Second), 10*time.Second, nil); !ok || k.Level != 3*maxMemos-1 {
		t.Errorf("the newest is not remembered: %v, %t", k, ok)
	}
	if _, ok := m.recall(name(maxMemos), &b, start.Add(time.Second), 10*time.Second, nil); ok {
		t.Error("an old one is remembered")
	}
}

// Who leaves an account and returns before what it had there has ended owes nothing for what it spent elsewhere meanwhile.
func TestAPolicyThatReturnsToAnAccountOwesNothing(t *testing.T) {
	w := newWorld(t, 1, lan)
	w.sold(Account{Name: "acct", MaxGateways: 4, Limits: []plan.Limit{tokens("input", 600_000, 600_000)}})
	r := w.policy("a", "chat", "acct", 4, lanes(1000), tokens("own", 60_000, 60_000))
	w.policy("b", "chat", "acct", 4, lanes(1000))
	w.lead(time.Hour)
	g := w.join("g", r)
	g.offer(&load{perSecond: 1.6, tokens: 500})
	w.goOn(70 * time.Second)
	before := w.meters[ownName(r, "own")].total
	for i := range 20 {
		w.policy("a", "chat", []string{"", "acct"}[i%2], 4, lanes(1000), tokens("own", 60_000, 60_000))
		w.goOn(3 * time.Second)
		if owed := -g.draws[0].Balance("own", w.clock()); owed > 1000 {
			t.Fatalf("edit %d: the gateway owes %v", i, owed)
		}
	}
	w.check()
	if served := w.meters[ownName(r, "own")].total - before; served < 0.8*60*800 {
		t.Errorf("%v were served in a minute of %v", served, 60*800)
	}
}
