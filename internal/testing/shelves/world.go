// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package shelves

import (
	"context"
	"fmt"
	"math/rand"
	"slices"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/budgetstore"
)

// Drain is how long calls last at the most.
const Drain = 20 * time.Second

// Faults are what goes wrong beside the network.
type Faults struct {
	// Crash ends drawers: with their calls, or so that the calls go on and another incarnation hears of them. Cut keeps
	// drawers from the store for a while.
	Crash, Cut bool
}

// World is drawers and a store.
type World struct {
	tb     testing.TB
	r      *rand.Rand
	store  budgetstore.Store
	tick   func(now time.Duration)
	faults Faults

	// Slots are how many there are; Account is what they are drawn on.
	Slots   int
	Account string
	budgets []pool.Budget
	now     time.Duration
	drawers []*drawer
	born    int
	mail    []letter
	// lost, doubled and delay are the network's.
	lost, doubled float64
	delay         time.Duration
	// Most is how many calls were in flight at once.
	Most int
	// had are by drawer the sums over all moments of its calls.
	had     map[string]int
	moments int
}

type drawer struct {
	*budgetstore.Drawer
	*shelf
	name  string
	began time.Duration
	drift float64
	cut   bool
	dead  bool
}

type letter struct {
	at     time.Duration
	to     *drawer
	draw   budgetstore.Draw
	result *budgetstore.Result
}

// New returns a world that has not begun. tick is told the time before anything else happens.
func New(tb testing.TB, store budgetstore.Store, tick func(now time.Duration), seed int64, f Faults) *World {
	tb.Helper()
	r := rand.New(rand.NewSource(seed))
	w := &World{tb: tb, r: r, store: store, tick: tick, faults: f, had: map[string]int{}, Slots: 1 + r.Intn(40), Account: fmt.Sprint("shelves-", seed)}
	w.budgets = budgets(float64(w.Slots))
	w.lost, w.doubled = r.Float64()*r.Float64()*0.4, r.Float64()*0.3
	w.delay = time.Duration(1+r.Intn(400)) * time.Millisecond
	tick(0)
	return w
}

// Calm has so many slots, and all messages arrive at once. It comes before any drawer joins.
func (w *World) Calm(slots int) {
	w.Slots, w.budgets = slots, budgets(float64(slots))
	w.lost, w.doubled, w.delay = 0, 0, 2*time.Millisecond
}

// Measure begins to count what drawers have.
func (w *World) Measure() { w.had, w.moments = map[string]int{}, 0 }

// Had is how many calls a drawer had in flight on average.
func (w *World) Had(name string) float64 { return float64(w.had[name]) / float64(w.moments) }

// Join begins a drawer that wants so many calls in flight.
func (w *World) Join(name string, wants int) { w.join(name).wants = wants }

func (w *World) join(name string) *drawer {
	w.born++
	d := &drawer{name: name, began: w.now, shelf: &shelf{capacity: float64(w.Slots)}, drift: w.r.NormFloat64() * 0.003}
	d.Drawer = budgetstore.New(budgetstore.Config{Name: name, Incarnation: fmt.Sprint(w.born), Drain: Drain}, d.at(w.now))
	w.drawers = append(w.drawers, d)
	return d
}

func (d *drawer) at(now time.Duration) time.Time {
	return time.Unix(1_800_000_000, 0).Add(d.began + time.Duration(float64(now-d.began)*(1+d.drift)))
}

// Play lets time pass; what goes wrong does so at random.
func (w *World) Play(long time.Duration) {
	w.tb.Helper()
	for until := w.now + long; w.now < until; {
		w.step(20 * time.Millisecond)
		if w.r.Intn(100) == 0 {
			w.happen()
		}
		if n := w.InFlight(); n > w.Slots {
			w.tb.Fatalf("%s: %s: %d calls are in flight, there are %d slots", w.Account, w.now, n, w.Slots)
		}
	}
}

// InFlight are the calls of all drawers.
func (w *World) InFlight() int {
	n := 0
	for _, d := range w.drawers {
		n += len(d.calls) + len(d.orphans)
	}
	return n
}

// Has are the calls of one drawer.
func (w *World) Has(name string) (n int) {
	for _, d := range w.drawers {
		if d.name == name {
			n += len(d.calls)
		}
	}
	return n
}

func (w *World) happen() {
	if len(w.drawers) == 0 {
		return
	}
	d := w.drawers[w.r.Intn(len(w.drawers))]
	switch w.r.Intn(4) {
	case 0, 1:
		if w.faults != (Faults{}) {
			d.wants = w.r.Intn(w.Slots + 3)
		}
	case 2:
		if w.faults.Crash {
			w.crash(d)
		}
	case 3:
		if w.faults.Cut {
			d.cut = !d.cut
		}
	}
}

// crash ends a drawer, and begins the next of its name.
func (w *World) crash(d *drawer) {
	d.dead = true
	w.drawers = slices.DeleteFunc(w.drawers, func(e *drawer) bool { return e == d })
	next := w.join(d.name)
	next.wants = d.wants
	if w.r.Intn(2) == 0 {
		// A leader: its gateways live on, and the next one hears of them one by one.
		next.orphans, next.unknown = slices.Concat(d.calls, d.orphans), true
	}
}

func (w *World) step(dt time.Duration) {
	w.now += dt
	w.tick(w.now)
	for {
		slices.SortStableFunc(w.mail, func(a, b letter) int { return int(a.at - b.at) })
		if len(w.mail) == 0 || w.mail[0].at > w.now {
			break
		}
		l := w.mail[0]
		w.mail = w.mail[1:]
		w.arrive(l)
	}
	for _, d := range w.drawers {
		if w.r.Intn(20) == 0 {
			d.find()
		}
		account := budgetstore.Account{Name: w.Account, Pool: d.shelf, Budgets: w.budgets}
		for _, draw := range d.Draws([]budgetstore.Account{account}, 10, d.at(w.now)) {
			w.send(letter{to: d, draw: draw})
		}
		d.live(w.now, func() time.Duration { return time.Duration(1 + w.r.Int63n(int64(Drain/4))) })
	}
	w.Most = max(w.Most, w.InFlight())
	w.moments++
	for _, d := range w.drawers {
		w.had[d.name] += len(d.calls)
	}
}

func (w *World) send(l letter) {
	times := 1
	if w.r.Float64() < w.doubled {
		times = 2
	}
	for range times {
		if l.to.cut || w.r.Float64() < w.lost {
			if l.result == nil {
				w.mail = append(w.mail, letter{w.now + time.Second, l.to, l.draw, &budgetstore.Result{Err: context.DeadlineExceeded}})
			}
			continue
		}
		l.at = w.now + time.Duration(w.r.ExpFloat64()*float64(w.delay))
		w.mail = append(w.mail, l)
	}
}

func (w *World) arrive(l letter) {
	if l.result != nil {
		if !l.to.dead {
			l.to.Receive(l.draw, *l.result, l.to.at(w.now))
		}
		return
	}
	result := w.store.Draw(context.Background(), []*budgetstore.Request{l.draw.Request})[0]
	if result.Err != nil {
		w.tb.Logf("%s: %v", w.now, result.Err)
	}
	l.result = &result
	w.send(l)
}
