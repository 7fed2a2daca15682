// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"fmt"
	"math"
	"math/rand"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/testing/seed"
)

func external(lanes ...budget.Lane) Config {
	cfg := canonical(4, lanes...)
	for i := range cfg.Budgets {
		cfg.Budgets[i].External = true
	}
	return cfg
}

// An external budget rises by what its store gives alone, and no higher than its room.
func TestExternalBudgetsRiseByAllotmentsAlone(t *testing.T) {
	p := New(external(), Leader{Epoch: 1, First: true}, origin)
	now := origin.Add(time.Minute)
	p.Advance(now)
	if f := p.Figures(now).Budgets[0]; f.Level != 0 {
		t.Errorf("level %v after a minute", f.Level)
	}
	for _, c := range []struct {
		name        string
		units, left float64
	}{{"tokens", 300_000, 0}, {"unknown", 5, 5}, {"tokens", 100_000, 20_000}, {"requests", math.NaN(), 0}} {
		if left := p.Allot(c.name, []Allotment{{Units: c.units}}, now); left != c.left {
			t.Errorf("%v of %s: left %v", c.units, c.name, left)
		}
	}
	if f := p.Figures(now.Add(time.Hour)).Budgets[0]; f.Level != 380_000 || f.Deposited != 380_000 {
		t.Errorf("%+v", f)
	}
	out := p.Surplus(now, 3*time.Second)
	if len(out) != 1 || math.Abs(out[0].Units-360_000) > 1e-6 {
		t.Errorf("surplus %v", out)
	}
	if f := p.Figures(now).Budgets[0]; math.Abs(f.Level-20_000) > 1e-6 || math.Abs(f.Withdrawn-360_000) > 1e-6 {
		t.Errorf("%+v", f)
	}
}

// What is needed is what waits and is not here: small calls together, large ones each as a whole and in order.
func TestNeedsAreWhatWaitsAndIsNotHere(t *testing.T) {
	p, now := New(external(), Leader{Epoch: 1, First: true}, origin), origin
	a, b := &teller{r: Report{Holder: "a"}}, &teller{r: Report{Holder: "b"}}
	a.r.Wants = []Want{
		{Lane: "default", Units: []Amount{{"tokens", 3000}, {"requests", 3}}},
		{Lane: "default", Bulk: 1, Units: []Amount{{"tokens", 60_000}, {"requests", 1}}},
	}
	b.r.Wants = []Want{{Lane: "default", Bulk: 1, Units: []Amount{{"tokens", 90_000}, {"requests", 1}}}}
	a.tell(t, p, now)
	b.tell(t, p, now)
	want := Needs{
		Small: []Amount{{"tokens", 3000}, {"requests", 3}},
		Bulk:  [][]Amount{{{"tokens", 60_000}, {"requests", 1}}, {{"tokens", 90_000}, {"requests", 1}}},
		Of:    []Claimant{{"default", "default", "default", []float64{1, 1}}, {"default", "default", "default", []float64{1, 1}}},
	}
	if got := p.Needs(now); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("needs %+v, want %+v", got, want)
	}
	for range 5 {
		n := p.Needs(now)
		allot(p, n.Small, now)
		for _, c := range n.Bulk {
			allot(p, c, now)
		}
		now = now.Add(10 * time.Millisecond)
		p.Advance(now)
	}
	if held := p.Held(Key{"a", 1}, "tokens", now) + p.Held(Key{"b", 1}, "tokens", now); math.Abs(held-153_000) > 1 {
		t.Errorf("%v are granted of what was needed", held)
	}
	if got := p.Needs(now); len(got.Bulk) > 0 || len(got.Small) > 0 {
		t.Errorf("still needs %+v", got)
	}
}

// A slice of small calls that waits in the queue is drawn as a whole though less is wanted by now: what is drawn of it lets nothing
// go else, and as nothing more is needed nothing more comes.
func TestWhatASliceWaitsForIsDrawnThoughLessIsWanted(t *testing.T) {
	for _, later := range []float64{400, 336, 252, 0.5} {
		p, now := New(external(), Leader{Epoch: 1, First: true}, origin), origin
		a := &teller{r: Report{Holder: "a"}}
		for _, wants := range []float64{336, later} {
			a.r.Wants = []Want{{Lane: "default", Units: []Amount{{"tokens", wants}}}}
			a.tell(t, p, now)
			now = now.Add(time.Second)
			p.Advance(now)
		}
		for range 3 {
			allot(p, p.Needs(now).Small, now)
			now = now.Add(10 * time.Millisecond)
			p.Advance(now)
		}
		if held := p.Held(Key{"a", 1}, "tokens", now); held < later-1e-6 {
			t.Errorf("%v are granted of %v that are wanted", held, later)
		}
		if got := p.Needs(now); len(got.Small) > 0 {
			t.Errorf("still needs %+v", got)
		}
	}
}

// Whatever happens, no more is granted than was deposited and came back, and a store that gives what is needed at its rate
// has all of it used.
func TestNoMoreIsGrantedThanWasDeposited(t *testing.T) {
	for i := range 20 * seed.Times() {
		number := seed.First() + int64(i)
		r := rand.New(rand.NewSource(number))
		l := newLoaded(t, external(budget.Lane{Name: "a", Share: 0.5}, budget.Lane{Name: "b", Share: 0.3}), lan, 3)
		l.offer(0, &load{lane: "a", perSecond: 3, tokens: 1000})
		l.offer(1, &load{lane: "b", perSecond: 4, tokens: 500})
		l.offer(2, &load{lane: "a", large: 20_000 + 60_000*r.Float64()})
		store, last, drawn := map[string]float64{}, l.now, map[string]float64{}
		step := func() {
			l.step()
			at, dt := l.leader().at(l.now), (l.now - last).Seconds()
			last = l.now
			for _, b := range l.cfg.Budgets {
				store[b.Name] = min(store[b.Name]+b.Rate*dt, b.Capacity)
			}
			if r.Intn(3) > 0 {
				return
			}
			n := l.leader().Needs(at)
			draw(l, n.Small, store, drawn, at)
			for _, c := range n.Bulk {
				if covers(store, c) {
					draw(l, c, store, drawn, at)
					continue
				}
				break
			}
			if r.Intn(20) == 0 {
				for _, s := range l.leader().Surplus(at, 2*time.Second) {
					store[s.Budget] += s.Units
					drawn[s.Budget] -= s.Units
				}
			}
		}
		l.run(2*time.Minute, step)
		before := l.meters["tokens"].total
		l.run(l.now+3*time.Minute, step)
		for i, b := range l.cfg.Budgets {
			f := l.leader().Figures(l.leader().at(l.now)).Budgets[i]
			if math.Abs(f.Deposited-f.Withdrawn-drawn[b.Name]) > 1e-6*f.Deposited {
				t.Errorf("seed %d: %s: deposited %v, withdrawn %v, drawn %v", number, b.Name, f.Deposited, f.Withdrawn, drawn[b.Name])
			}
			if out := f.Granted - f.Returned - f.Refunded; out > drawn[b.Name]+1e-6*f.Deposited {
				t.Errorf("seed %d: %s: %v granted of %v", number, b.Name, out, drawn[b.Name])
			}
		}
		// One large call more or less in these minutes is up to 0.067 of it.
		if used := l.used(before, 3*time.Minute); used < 0.93 {
			t.Errorf("seed %d: %.3f of the rate were used", number, used)
		}
	}
}

// allot brings amounts that are nobody's in particular.
func allot(p *Pool, amounts []Amount, now time.Time) {
	for _, a := range amounts {
		p.Allot(a.Budget, []Allotment{{Units: a.Units}}, now)
	}
}

// covers says whether the store has a whole vector.
func covers(store map[string]float64, cost []Amount) bool {
	for _, c := range cost {
		if store[c.Budget] < c.Units {
			return false
		}
	}
	return true
}

func draw(l *loaded, cost []Amount, store, drawn map[string]float64, at time.Time) {
	for _, c := range cost {
		units := min(c.Units, store[c.Budget])
		left := l.leader().Allot(c.Budget, []Allotment{{Units: units}}, at)
		store[c.Budget] -= units - left
		drawn[c.Budget] += units - left
	}
}
