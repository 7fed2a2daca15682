// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"math"
	"testing"
	"time"
)

// seer is a pool, and holders who say what the provider has.
type seer struct {
	*testing.T
	p   *Pool
	now time.Time
	of  map[string]*teller
}

func newSeer(t *testing.T, rate float64) *seer {
	t.Helper()
	cfg := Config{MaxHolders: 4, Budgets: []Budget{{Name: "b", Rate: rate, Capacity: 1000, SmallCall: 20, Outstanding: 1000}}}
	x := &seer{T: t, p: New(cfg, Leader{Epoch: 1, First: true}, origin), now: origin, of: map[string]*teller{}}
	for _, name := range []string{"a", "b", "c"} {
		x.of[name] = &teller{r: Report{Holder: name, Counts: []Count{{Budget: "b"}}}}
	}
	for range 2 + int(2500/rate) {
		x.all()
		x.now = x.now.Add(time.Second)
	}
	return x
}

func (x *seer) all() {
	x.Helper()
	for _, h := range x.of {
		h.tell(x.T, x.p, x.now)
	}
}

// get has a holder be granted something.
func (x *seer) get(name string, units float64) {
	x.Helper()
	h := x.of[name]
	h.r.Wants = []Want{{Lane: "default", Units: []Amount{{"b", h.total() + units}}}}
	for range 20 {
		h.tell(x.T, x.p, x.now)
	}
	h.r.Wants = nil
}

func (h *teller) total() float64 {
	for _, l := range h.grant.Lanes {
		return units(l.Units, "b")
	}
	return 0
}

// says has a holder say what the provider has, after it spent something.
func (x *seer) says(name string, most, spent float64) {
	x.Helper()
	h := x.of[name]
	h.r.Counts[0].Spent += spent
	h.r.Seen = []Amount{{"b", most}}
	h.tell(x.T, x.p, x.now)
	h.r.Seen = nil
}

func (x *seer) level(want float64) {
	x.Helper()
	if got := x.p.Figures(x.now).Budgets[0].Level; math.Abs(got-want) > 1e-6*(1+math.Abs(want)) {
		x.Errorf("level %v, want %v", got, want)
	}
}

// What one says alone holds for three intervals. Then it comes back.
func TestOneWordHoldsForThreeIntervals(t *testing.T) {
	x := newSeer(t, 10)
	x.level(1000)
	x.says("a", 200, 0)
	x.level(200)
	for range 2 {
		x.now = x.now.Add(time.Second)
		// It says so again, and has spent nothing.
		x.says("a", 200, 0)
		x.all()
	}
	x.level(220)
	x.now = x.now.Add(time.Second)
	x.says("a", 0, 0)
	x.all()
	x.level(1000)
}

// It holds as long as it spends what it was granted and says so.
func TestAWordIsConfirmedBySpending(t *testing.T) {
	x := newSeer(t, 10)
	x.get("a", 20)
	x.says("a", 200, 5)
	for range 3 {
		x.now = x.now.Add(2 * time.Second)
		x.says("a", 190, 5)
		x.all()
	}
	f := x.p.Figures(x.now).Budgets[0]
	if f.Level > 220 {
		t.Errorf("level %v: it said three times that there are 190", f.Level)
	}
	// By then it has spent nearly all; then it spends the rest. What it says it spent beyond is no answer to anything.
	x.says("a", 190, 100)
	x.all()
	for range 3 {
		x.now = x.now.Add(time.Second)
		x.says("a", 190, 100)
		x.all()
	}
	if f := x.p.Figures(x.now).Budgets[0]; f.Level < 800 {
		t.Errorf("level %v: its word held on without grants", f.Level)
	}
}

// What two say stays.
func TestTwoWordsStay(t *testing.T) {
	x := newSeer(t, 10)
	x.says("a", 200, 0)
	x.now = x.now.Add(time.Second)
	x.says("b", 205, 0)
	for range 10 {
		x.now = x.now.Add(time.Second)
		x.all()
	}
	x.level(310)
}

// Who is contradicted by far is believed no longer for a time, which doubles.
func TestWhoIsContradictedIsNotBelieved(t *testing.T) {
	x := newSeer(t, 10)
	length := distrust
	for range 3 {
		x.get("a", 20)
		x.says("a", 0, 20)
		if f := x.p.Figures(x.now).Budgets[0]; f.Level > 0 {
			t.Fatalf("level %v", f.Level)
		}
		x.now = x.now.Add(time.Second)
		x.says("b", 900, 0)
		if f := x.p.Figures(x.now).Budgets[0]; f.Level < 600 {
			t.Errorf("level %v although another's answer has 900", f.Level)
		}
		x.says("a", 0, 20)
		if f := x.p.Figures(x.now).Budgets[0]; f.Level < 600 {
			t.Errorf("level %v: it was believed again", f.Level)
		}
		until := x.now.Add(length)
		for !x.now.After(until) {
			x.now = x.now.Add(time.Second)
			x.all()
		}
		length *= 2
	}
}

// Answers that differ by what a long call leaves open contradict nobody.
func TestAnOldAnswerContradictsNobody(t *testing.T) {
	x := newSeer(t, 10)
	x.says("a", 200, 0)
	x.now = x.now.Add(time.Second)
	x.says("b", 400, 0)
	x.level(210)
	if len(x.p.byName["b"].sight.doubted) > 0 {
		t.Errorf("%+v", x.p.byName["b"].sight.doubted)
	}
}

// What comes back is no more than P has lacked ever since: what was refilled and spent meanwhile is not there twice.
func TestAVoidWordBringsNothingAnew(t *testing.T) {
	x := newSeer(t, 500)
	x.level(1000)
	x.says("a", 0, 0)
	x.level(0)
	for range 2 {
		x.now = x.now.Add(time.Second)
		x.all()
	}
	x.level(1000)
	h := x.of["b"]
	h.r.Wants = []Want{{Lane: "default", Bulk: 1, Units: []Amount{{"b", 900}}}}
	h.tell(t, x.p, x.now)
	x.level(100)
	x.now = x.now.Add(999 * time.Millisecond)
	x.p.Advance(x.now)
	before := x.p.Figures(x.now).Budgets[0]
	x.now = x.now.Add(2 * time.Millisecond)
	x.p.Advance(x.now)
	if after := x.p.Figures(x.now).Budgets[0]; after.Level > before.Level+2 && before.Level < 1000-before.Held {
		t.Errorf("the end of a word brought %v", after.Level-before.Level)
	}
}

// A holder that says all the time that there is nothing cannot keep others from their rate, however it goes about it: with
// grants that it hoards to confirm its word, it has them wait now and then, and more and more rarely.
func TestALiarKeepsNobodyFromItsRate(t *testing.T) {
	for name, tc := range map[string]struct {
		spends, want float64
		mute         bool
	}{
		"spends nothing":             {0, 0.99, false},
		"spends as little as counts": {confirming, 0.99, false},
		// Half of the rate is its own then.
		"as much as it gets":        {5, 0.55, false},
		"nobody else says anything": {confirming, 0.5, true},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLoaded(t, canonical(4), lan, 2)
			o := l.offer(0, &load{perSecond: 6, tokens: 1000})
			l.offer(1, &load{perSecond: tc.spends * 2, tokens: 1000})
			l.seen = func(g *gateway) []Amount {
				if g == l.gateways[1] {
					return []Amount{{"tokens", 0}}
				}
				if tc.mute {
					return nil
				}
				// What the provider has by its own answers: all that was not spent.
				m := l.meters["tokens"]
				return []Amount{{"tokens", min(400_000, m.refilled+m.rate*l.now.Seconds()-m.total+20_000)}}
			}
			l.goOn(2 * time.Minute)
			o.served = 0
			l.goOn(20 * time.Minute)
			l.check()
			part := o.served / (6000 * 20 * 60)
			t.Logf("%.3f of what it wanted", part)
			if part < tc.want {
				t.Errorf("the other had %.3f of what it wanted", part)
			}
		})
	}
}
