// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

// pair is a pool and one holder without a network.
type pair struct {
	*testing.T
	p   *Pool
	h   *Holder
	now time.Time
}

func newPair(t *testing.T, cfg Config, by Leader) *pair {
	t.Helper()
	c := cfg.withDefaults()
	hc := HolderConfig{Name: "h", Incarnation: 1, Fresh: true}
	for _, b := range c.Budgets {
		rate, burst := Safe(b, c.MaxHolders)
		hc.Budgets = append(hc.Budgets, HolderBudget{b.Name, b.Kind, rate, burst})
	}
	return &pair{T: t, p: New(cfg, by, origin), h: NewHolder(hc, origin), now: origin}
}

// tell reports, and brings the answer.
func (x *pair) tell(demands ...Demand) Grant {
	x.Helper()
	r := x.h.Report(demands, x.now)
	if err := x.p.Report(&r, x.now); err != nil {
		x.Fatal(err)
	}
	x.p.Advance(x.now)
	return x.answer()
}

func (x *pair) answer() Grant {
	x.Helper()
	x.p.Changed(nil)
	g, ok := x.p.Grant(Key{"h", 1}, x.now)
	if !ok {
		x.Fatal("no answer")
	}
	x.h.Receive(&g, x.now)
	return g
}

func (x *pair) wait(d time.Duration) { x.now = x.now.Add(d); x.p.Advance(x.now) }

func (x *pair) has(name string, want float64) {
	x.Helper()
	if got := x.h.Balance(name, x.now); math.Abs(got-want) > 1e-6*(math.Abs(want)+1) {
		x.Errorf("%s: balance %v, want %v", name, got, want)
	}
}

var one = Config{MaxHolders: 2, Budgets: []Budget{{Name: "b", Rate: 100, Capacity: 6000, SmallCall: 50, Window: time.Minute}}}

func TestABulkCallIsGrantedAsAWhole(t *testing.T) {
	x := newPair(t, canonical(1), Leader{Epoch: 1, First: true})
	bulk := Demand{Lane: "default", Bulk: 1, Cost: []Amount{{"tokens", 60_000}, {"requests", 1}}}
	x.tell(bulk)
	x.has("tokens", 0)
	// It connects at its second report, until then a safe share is left to it.
	x.wait(10 * time.Millisecond)
	x.tell(bulk)
	for range 8 {
		x.wait(time.Second)
		x.tell(bulk)
		x.has("tokens", 0)
	}
	x.wait(time.Second)
	g := x.tell(bulk)
	x.has("tokens", 60_000)
	x.has("requests", 1)
	if len(g.Lanes) != 1 || g.Lanes[0].Bulk != 1 {
		t.Errorf("%+v", g.Lanes)
	}
	x.wait(time.Second)
	x.tell(bulk)
	x.has("tokens", 60_000)
}

func TestUnspentComesBackWhenItIsNotNeededTwice(t *testing.T) {
	x := newPair(t, one, Leader{Epoch: 1, First: true})
	need := Demand{Lane: "default", Small: []Amount{{"b", 100}}}
	x.wait(10 * time.Second)
	x.tell(need)
	x.has("b", 100)
	x.wait(time.Second)
	x.tell()
	x.has("b", 100)
	x.wait(time.Second)
	x.tell()
	x.has("b", 0)
	if f := x.p.Figures(x.now).Budgets[0]; f.Returned != 100 || f.Held != 0 || f.Burnt != 0 {
		t.Errorf("%+v", f)
	}
}

// A large call that P could not fill up to, because holders keep what they do not need, calls it back.
func TestRecallFetchesWhatABulkCallWaitsFor(t *testing.T) {
	cfg := one
	cfg.Budgets = []Budget{{Name: "b", Rate: 100, Capacity: 300, SmallCall: 10, Outstanding: 300}}
	x := newPair(t, cfg, Leader{Epoch: 1, First: true})
	x.wait(10 * time.Second)
	x.tell(Demand{Lane: "default", Small: []Amount{{"b", 100}}})
	x.has("b", 100)
	x.wait(time.Second)
	other := Report{Holder: "other", Incarnation: 1, Sequence: 1, Wants: []Want{{Lane: "default", Bulk: 1, Units: []Amount{{"b", 280}}}}}
	if err := x.p.Report(&other, x.now); err != nil {
		t.Fatal(err)
	}
	x.p.Advance(x.now)
	if g := x.answer(); !g.Recall {
		t.Fatalf("%+v", g)
	}
	x.tell()
	x.has("b", 0)
	x.tell()
	x.wait(3 * time.Second)
	if got := x.p.Held(Key{"other", 1}, "b", x.now); got != 280 {
		t.Errorf("the bulk call was granted %v", got)
	}
}

// Who is silent has spent what it held; who comes back begins anew.
func TestSilencePastTheTTLCountsAsSpent(t *testing.T) {
	x := newPair(t, one, Leader{Epoch: 1, First: true})
	x.wait(10 * time.Second)
	x.tell(Demand{Lane: "default", Small: []Amount{{"b", 150}}})
	x.has("b", 150)
	before := x.p.Figures(x.now)
	x.now = x.now.Add(ttl - time.Nanosecond)
	x.has("b", 150)
	x.now = x.now.Add(time.Nanosecond)
	x.has("b", 0)
	x.wait(time.Second)
	f := x.p.Figures(x.now)
	if f.Budgets[0].Burnt != 150 || f.Budgets[0].Held != 0 || f.Holders != 0 {
		t.Errorf("%+v, before %+v", f, before)
	}
	x.tell()
	x.has("b", 0)
	if got := x.p.Held(Key{"h", 1}, "b", x.now); got != 0 {
		t.Errorf("held %v anew", got)
	}
}

func TestASafeShareWithoutALease(t *testing.T) {
	x := newPair(t, one, Leader{Epoch: 1, First: true})
	x.wait(time.Second)
	// Half of a half of 100 a second.
	x.has("b", 25)
	x.wait(time.Minute)
	x.has("b", 50)
	if _, ok := x.h.Take([]Amount{{"b", 51}}, x.now); ok {
		t.Error("more than a small call went on the safe share")
	}
	if _, ok := x.h.Take([]Amount{{"b", 50}}, x.now); !ok {
		t.Error("a small call did not go")
	}
	x.tell()
	x.has("b", 0)
	again := NewHolder(HolderConfig{Name: "h", Incarnation: 2, Budgets: x.h.cfg.Budgets}, x.now)
	x.now = x.now.Add(ttl + time.Duration(slack*float64(ttl)))
	if got := again.Balance("b", x.now); got != 0 {
		t.Errorf("%v on the safe share while the pool may count on the lease before", got)
	}
	if got := again.Balance("b", x.now.Add(time.Second)); got != 25 {
		t.Errorf("%v a second later", got)
	}
}

// The pool refills at R less the safe shares of those that exist and are silent.
func TestTheRefillLeavesTheSafeShares(t *testing.T) {
	p := New(one, Leader{Epoch: 1, First: true, Holders: []string{"a", "b"}}, origin)
	now := origin
	for _, tc := range []struct {
		do   func()
		rate float64
	}{
		{func() {}, 50},
		{func() { p.Forget("b", now) }, 75},
		{func() { p.Expect("b", now) }, 50},
		{func() { p.Expect("c", now) }, 50}, // more than MaxHolders: half is the least
		{func() { p.Forget("c", now); p.Forget("b", now); p.Forget("a", now) }, 100},
	} {
		tc.do()
		p.Advance(now)
		if got := p.Figures(now).Budgets[0].Rate; got != tc.rate {
			t.Errorf("refills at %v, want %v", got, tc.rate)
		}
		now = now.Add(time.Second)
	}
}

// A new leader starts with nothing, or with what the last one owed, and lets holders keep what they have.
func TestANewLeaderStartsWithNothing(t *testing.T) {
	x := newPair(t, one, Leader{Epoch: 1, First: true})
	x.wait(10 * time.Second)
	x.tell(Demand{Lane: "default", Small: []Amount{{"b", 150}}})
	state := x.p.State(x.now)
	state.Budgets[0].Debt = 30
	old := x.p
	old.Extend(x.now)
	x.p = New(one, Leader{Epoch: 2, Last: state, Holders: []string{"h"}}, x.now)
	if f := x.p.Figures(x.now).Budgets[0]; f.Level != -30 || f.Unknown != 3000 || f.Held != 0 {
		t.Errorf("%+v", f)
	}
	x.tell()
	x.has("b", 150)
	if f := x.p.Figures(x.now).Budgets[0]; f.Held != 150 || f.Unknown != 2850 {
		t.Errorf("%+v", f)
	}
	// The old one is fenced off, by its time and by the epoch.
	r := x.h.Report(nil, x.now)
	if err := old.Report(&r, x.now); !errors.Is(err, ErrFenced) {
		t.Errorf("%v", err)
	}
	if _, ok := old.Grant(Key{"h", 1}, x.now); ok {
		t.Error("a leader whose time has ended answers")
	}
	late := Grant{Holder: "h", Incarnation: 1, Term: Term{1, 1}, Totals: []Amount{{"b", 1e6}}, Ack: r.Sequence}
	x.h.Receive(&late, x.now)
	x.has("b", 150)
}

// More than was published may not be out: such a grant waits until it is.
func TestOutstandingStaysWithinWhatIsPublished(t *testing.T) {
	x := newPair(t, one, Leader{Epoch: 1, First: true})
	x.p.Published(x.p.State(x.now))
	x.wait(2 * time.Minute)
	bulk := Demand{Lane: "default", Bulk: 1, Cost: []Amount{{"b", 4000}}}
	x.tell(bulk)
	x.has("b", 0)
	if !x.p.Stale() {
		t.Fatal("nothing is to be published")
	}
	x.p.Published(x.p.State(x.now))
	x.wait(time.Millisecond)
	x.answer()
	x.has("b", 4000)
	if x.p.Stale() {
		t.Error("still stale")
	}
}

// Slots come back when they are given back, or after TTL and drain.
func TestSlots(t *testing.T) {
	cfg := Config{MaxHolders: 2, Drain: time.Minute, Budgets: []Budget{{Name: "s", Kind: budget.Slots, Capacity: 10}}}
	x := newPair(t, cfg, Leader{Epoch: 1, First: true})
	x.has("s", 2) // its own
	need := Demand{Lane: "default", Small: []Amount{{"s", 6}}}
	x.tell(need)
	x.has("s", 6)
	var taken []Taken
	for range 6 {
		c, ok := x.h.Take([]Amount{{"s", 1}}, x.now)
		if !ok {
			t.Fatal("a slot is missing")
		}
		taken = append(taken, c)
	}
	if _, ok := x.h.Take([]Amount{{"s", 1}}, x.now); ok {
		t.Fatal("a slot too many")
	}
	x.wait(time.Second)
	x.h.Settle(&taken[0], nil, x.now)
	x.tell()
	x.wait(time.Second)
	x.tell()
	// Five are in use, two of them its own.
	if got := x.p.Figures(x.now).Budgets[0].Held; got != 3 {
		t.Errorf("%v are out", got)
	}
	// It falls silent for longer than the TTL, and comes back with its calls.
	x.wait(ttl + time.Second)
	x.has("s", -3)
	if len(x.p.idle) != 3 {
		t.Fatalf("%d slots wait for their calls to end", len(x.p.idle))
	}
	x.tell()
	x.has("s", 0)
	for i := range taken {
		x.h.Settle(&taken[i], nil, x.now)
	}
	x.has("s", 5)
	x.wait(ttl + 2*time.Minute)
	if f := x.p.Figures(x.now); len(x.p.idle) != 0 || f.Budgets[0].Held != 0 || f.Holders != 0 {
		t.Errorf("%+v", f)
	}
}

// A drained holder gives everything back and spends nothing any longer.
func TestADrainedHolderGivesAllBack(t *testing.T) {
	x := newPair(t, one, Leader{Epoch: 1, First: true})
	x.wait(10 * time.Second)
	x.tell(Demand{Lane: "default", Small: []Amount{{"b", 150}}})
	level := x.p.Figures(x.now).Budgets[0].Level
	r := x.h.Drain(x.now)
	if err := x.p.Report(&r, x.now); err != nil {
		t.Fatal(err)
	}
	x.p.Advance(x.now)
	f := x.p.Figures(x.now)
	if got := f.Budgets[0]; got.Level != level+150 || got.Burnt != 0 || f.Holders != 0 {
		t.Errorf("%+v", got)
	}
	if _, ok := x.h.Take(nil, x.now); ok || x.h.Balance("b", x.now) != 0 {
		t.Error("it goes on spending")
	}
}

// What is overspent is the holder's debt, paid by its own grants; what is refunded may be spent again.
func TestSettlementGoesBothWays(t *testing.T) {
	x := newPair(t, one, Leader{Epoch: 1, First: true})
	x.wait(30 * time.Second)
	need := Demand{Lane: "default", Small: []Amount{{"b", 100}}}
	x.tell(need)
	c, _ := x.h.Take([]Amount{{"b", 100}}, x.now)
	x.h.Settle(&c, []Amount{{"b", 130}}, x.now)
	x.has("b", -30)
	x.wait(time.Second)
	x.tell(need)
	x.has("b", 100)
	// Not reported yet: it is its own at once.
	c, _ = x.h.Take([]Amount{{"b", 100}}, x.now)
	x.h.Settle(&c, []Amount{{"b", 40}}, x.now)
	x.has("b", 60)
	// Reported as spent: it goes back to the pool.
	c, _ = x.h.Take([]Amount{{"b", 60}}, x.now)
	x.wait(time.Second)
	x.tell()
	x.h.Settle(&c, []Amount{{"b", 10}}, x.now)
	x.has("b", 0)
	x.wait(time.Second)
	before := x.p.Figures(x.now).Budgets[0].Level
	x.tell()
	if f := x.p.Figures(x.now).Budgets[0]; f.Refunded != 50 || math.Abs(f.Level-before-50) > 1e-6 {
		t.Errorf("%+v, before %v", f, before)
	}
}

// Reports are early when something new is known, and never in a flood.
func TestReportsAreDueEachIntervalOrSoon(t *testing.T) {
	x := newPair(t, one, Leader{Epoch: 1, First: true})
	due := func(want time.Duration) {
		t.Helper()
		if got := x.h.Due(x.now).Sub(x.now); got != want {
			t.Errorf("due in %v, want %v", got, want)
		}
	}
	due(0)
	x.wait(10 * time.Second)
	x.tell()
	due(interval / 10) // a new term
	x.wait(time.Second)
	x.tell()
	due(interval)
	x.h.Take([]Amount{{"b", 1}}, x.now)
	due(interval / 10) // something is lacking
	x.tell(Demand{Lane: "default", Small: []Amount{{"b", 100}}})
	due(interval)
	x.h.Take([]Amount{{"b", 1000}}, x.now)
	due(interval) // the pool knows of it
}

// What the provider has bounds P and all that is held, whoever else took from it; it never lifts P.
func TestWhatTheProviderHasBoundsTheLevel(t *testing.T) {
	for name, tc := range map[string]struct {
		seen, want func(level float64) float64
	}{
		"less":       {func(level float64) float64 { return level + 1000 - 300 }, func(level float64) float64 { return level - 300 }},
		"as booked":  {func(level float64) float64 { return level + 1000 }, func(level float64) float64 { return level }},
		"more":       {func(float64) float64 { return 1e9 }, func(level float64) float64 { return level }},
		"not a fact": {func(float64) float64 { return math.NaN() }, func(level float64) float64 { return level }},
		"nothing":    {func(float64) float64 { return 0 }, func(float64) float64 { return -1000 }},
		"absurd":     {func(float64) float64 { return -1e300 }, func(float64) float64 { return -6000 }},
	} {
		t.Run(name, func(t *testing.T) {
			x := edited(t)
			level := x.p.Figures(x.now).Budgets[0].Level
			r := x.h.Report(nil, x.now)
			r.Seen = []Amount{{"b", tc.seen(level)}, {"unknown", 0}}
			if err := x.p.Report(&r, x.now); err != nil {
				t.Fatal(err)
			}
			if got := x.p.Figures(x.now).Budgets[0].Level; math.Abs(got-tc.want(level)) > 1e-6 {
				t.Errorf("level %v of %v, want %v", got, level, tc.want(level))
			}
		})
	}
}
