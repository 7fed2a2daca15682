// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package redisstore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/budgetstore"
)

// purse is a pool without gateways: what it has, spends and needs of each budget.
type purse struct {
	budgets []pool.Budget
	level   []float64
	// demand is what is needed at once; bulk are large calls that wait.
	demand []float64
	bulk   [][]pool.Amount
	// class is whose all of it is, of is by large call whose that is.
	class pool.Claim
	of    []pool.Claimant
}

func (p *purse) Standing(time.Time) pool.Standing {
	s := pool.Standing{Holders: 1}
	for i, b := range p.budgets {
		standing := pool.BudgetStanding{Name: b.Name, Level: p.level[i]}
		if c := p.class; c.Class != "" {
			c.Wanted, c.Lately = p.demand[i], 1
			standing.Claims = []pool.Claim{c}
		}
		s.Budgets = append(s.Budgets, standing)
	}
	return s
}

func (p *purse) Supply(string, []pool.Allotment) {}

func (p *purse) Lease(string, float64, time.Time) {}

func (p *purse) Needs(time.Time) pool.Needs {
	n := pool.Needs{}
	for i, b := range p.budgets {
		if lack := min(p.demand[i], 2*b.Rate) - p.level[i]; lack > 0 {
			n.Small = append(n.Small, pool.Amount{Budget: b.Name, Units: lack})
		}
	}
	n.Bulk, n.Of = p.bulk, p.of
	return n
}

func (p *purse) Allot(name string, to []pool.Allotment, _ time.Time) (left float64) {
	for _, a := range to {
		for i, b := range p.budgets {
			if b.Name == name {
				over := max(0, p.level[i]+a.Units-b.Capacity)
				p.level[i] += a.Units - over
				left += over
			}
		}
	}
	return left
}

func (p *purse) Surplus(_ time.Time, keep time.Duration) (out []pool.Amount) {
	for i, b := range p.budgets {
		waits := p.demand[i]
		for _, v := range p.bulk {
			for _, a := range v {
				if a.Budget == b.Name {
					waits += a.Units
				}
			}
		}
		if more := p.level[i] - waits - keep.Seconds()*min(b.Rate, p.demand[i]); more > 0 {
			p.level[i] -= more
			out = append(out, pool.Amount{Budget: b.Name, Units: more})
		}
	}
	return out
}

// drawer is one with its pool, and what is on its way to it and from it.
type drawer struct {
	*budgetstore.Drawer
	purse *purse
	name  string
	began time.Duration
	cut   bool
	// drift is by which part its clock is fast.
	drift float64
	dead  bool
}

// world is drawers and a store at a simulated time, which the real script is told.
type world struct {
	tb      testing.TB
	r       *rand.Rand
	store   *Store
	account string
	now     time.Duration
	// server is how far its clock is off.
	server  time.Duration
	budgets []pool.Budget
	drawers []*drawer
	mail    []letter
	born    int
	fate    fate
	meters  []meter
	seed    int64
}

// fate is how a network treats messages.
type fate struct {
	lost, doubled float64
	delay         time.Duration
}

// letter is a message under way: a draw, or its result.
type letter struct {
	at     time.Duration
	to     *drawer
	draw   budgetstore.Draw
	result *budgetstore.Result
}

// meter measures how far spending exceeded the rate in any interval.
type meter struct {
	over, worst, spent float64
}

func (m *meter) pass(units float64) { m.over = max(0, m.over-units) }
func (m *meter) spend(units float64) {
	m.over += units
	m.spent += units
	m.worst = max(m.worst, m.over)
}

// epoch is when simulated time begins.
var epoch = time.Unix(1_800_000_000, 0)

// clocked is the script with the clock that a test sets.
func clocked() string {
	own := "local function server_time() return tonumber(redis.call('GET', (string.gsub(KEYS[1], 'account$', 'clock')))) end\n"
	clock, _ := files.ReadFile("script/0clock.lua")
	return strings.Replace(script, string(clock), own, 1)
}

func newWorld(tb testing.TB, s *Store, seed int64, budgets ...pool.Budget) *world {
	tb.Helper()
	w := &world{tb: tb, r: rand.New(rand.NewSource(seed)), store: s, seed: seed, account: fmt.Sprint("world-", seed), budgets: budgets}
	if err := s.client.FlushDB(context.Background()).Err(); err != nil {
		tb.Fatal(err)
	}
	w.meters = make([]meter, len(budgets))
	w.tick()
	return w
}

func (w *world) tick() {
	at := float64(epoch.Unix()) + (w.now + w.server).Seconds()
	key := strings.TrimSuffix(w.store.keys(w.account)[0], "account") + "clock"
	if err := w.store.client.Set(context.Background(), key, strconv.FormatFloat(at, 'f', 6, 64), 0).Err(); err != nil {
		w.tb.Fatal(err)
	}
}

func (w *world) join(name string) *drawer {
	w.born++
	d := &drawer{name: name, began: w.now, purse: &purse{
		budgets: w.budgets, level: make([]float64, len(w.budgets)), demand: make([]float64, len(w.budgets)),
	}}
	d.Drawer = budgetstore.New(budgetstore.Config{Name: name, Incarnation: fmt.Sprint(w.born), Drain: 20 * time.Second}, d.at(w.now))
	w.drawers = append(w.drawers, d)
	return d
}

// at is the time by a drawer's clock.
func (d *drawer) at(now time.Duration) time.Time {
	return epoch.Add(d.began + time.Duration(float64(now-d.began)*(1+d.drift)))
}

func (w *world) crash(d *drawer) {
	d.dead = true
	w.drawers = slices.DeleteFunc(w.drawers, func(e *drawer) bool { return e == d })
}

// step lets a moment pass: messages arrive, drawers draw.
func (w *world) step(dt time.Duration) {
	w.now += dt
	w.tick()
	for i, b := range w.budgets {
		w.meters[i].pass(b.Rate * dt.Seconds())
	}
	for again := true; again; {
		again = false
		slices.SortStableFunc(w.mail, func(a, b letter) int { return int(a.at - b.at) })
		if len(w.mail) > 0 && w.mail[0].at <= w.now {
			l := w.mail[0]
			w.mail = w.mail[1:]
			w.arrive(l)
			again = true
		}
	}
	for _, d := range w.drawers {
		for _, draw := range d.Draws([]budgetstore.Account{{Name: w.account, Pool: d.purse, Budgets: w.budgets}}, 10, d.at(w.now)) {
			w.send(letter{to: d, draw: draw})
		}
	}
}

func (w *world) send(l letter) {
	for range 1 + w.times(w.fate.doubled) {
		if l.to.cut || w.r.Float64() < w.fate.lost {
			if l.result == nil {
				// The drawer's client gives up after a second.
				w.mail = append(w.mail, letter{w.now + time.Second, l.to, l.draw, &budgetstore.Result{Err: context.DeadlineExceeded}})
			}
			continue
		}
		l.at = w.now + time.Duration(w.r.ExpFloat64()*float64(w.fate.delay))
		w.mail = append(w.mail, l)
	}
}

func (w *world) times(p float64) int {
	if w.r.Float64() < p {
		return 1
	}
	return 0
}

func (w *world) arrive(l letter) {
	if l.result == nil {
		result := w.store.Draw(context.Background(), []*budgetstore.Request{l.draw.Request})[0]
		w.books(l, result)
		l.result = &result
		w.send(l)
		return
	}
	if !l.to.dead {
		l.to.Receive(l.draw, *l.result, l.to.at(w.now))
	}
}

// books fails if the store's own books do not hold: its level may be what it is by a stricter drawer's limits.
func (w *world) books(l letter, r budgetstore.Result) {
	w.tb.Helper()
	if r.Err != nil {
		if errors.Is(r.Err, budgetstore.ErrRefused) && strings.Contains(r.Err.Error(), "too many incarnations") {
			return
		}
		w.tb.Fatalf("%s: %v", w.now, r.Err)
	}
	for i, g := range r.Answer.Lines {
		b := l.draw.Request.Lines[i]
		if sum := g.Level + g.Outstanding; sum > b.Capacity*(1+1e-9) || math.IsNaN(sum) {
			w.tb.Fatalf("%s: %s: L %v and H %v exceed %v", w.now, b.Name, g.Level, g.Outstanding, b.Capacity)
		}
	}
}

// spend has a drawer spend of what it has.
func (w *world) spend(d *drawer, i int, units float64) float64 {
	units = max(0, min(units, d.purse.level[i]))
	d.purse.level[i] -= units
	w.meters[i].spend(units)
	return units
}
