// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package redisstore

import (
	"context"
	"fmt"
	"math"
	"math/rand"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budget/pool"
)

// faults are what goes wrong in a history beside the network.
type faults struct {
	crash, cut, clock, edit, forget, stale bool
}

// history plays drawers for a while, and what goes wrong.
type history struct {
	*world
	faults faults
	saved  []string
	// debts are what the bound may be exceeded by: see each.
	debts []float64
	// limits are the capacities before any edit.
	limits []float64
}

func drawBudgets(r *rand.Rand) []pool.Budget {
	var out []pool.Budget
	for i := range 1 + r.Intn(2) {
		rate := math.Exp(r.Float64() * 6)
		capacity := rate * math.Exp(r.Float64()*4)
		out = append(out, pool.Budget{Name: fmt.Sprint("b", i), Rate: rate, Capacity: capacity, SmallCall: capacity * 0.05 * r.Float64(), External: true})
	}
	return out
}

func newHistory(tb testing.TB, s *Store, seed int64, f faults) *history {
	tb.Helper()
	r := rand.New(rand.NewSource(seed))
	h := &history{world: newWorld(tb, s, seed, drawBudgets(r)...), faults: f}
	h.debts = make([]float64, len(h.budgets))
	for _, b := range h.budgets {
		h.limits = append(h.limits, b.Capacity)
	}
	h.fate = fate{lost: r.Float64() * r.Float64() * 0.4, doubled: r.Float64() * 0.3, delay: time.Duration(math.Exp(r.Float64()*6)) * time.Millisecond}
	return h
}

func (h *history) play(long time.Duration) {
	for i := range 2 + h.r.Intn(4) {
		h.join(fmt.Sprint("d", i))
	}
	next := time.Second
	for h.now < long {
		h.step(moment)
		for _, d := range h.drawers {
			h.live(d)
		}
		if h.now > next {
			h.event()
			next = h.now + time.Duration(h.r.ExpFloat64()*2e9)
		}
		h.check()
	}
}

// live has a drawer need, and spend, for a while what it may.
func (h *history) live(d *drawer) {
	storm := h.now/(7*time.Second)%2 == 1
	if h.r.Intn(50) == 0 || storm && h.now%(7*time.Second) == 0 {
		for i, b := range h.budgets {
			d.purse.demand[i] = max(0, h.r.Float64()*3-1) * b.Rate
			if storm {
				d.purse.demand[i] = 3 * b.Rate
			} else if h.r.Intn(2) == 0 {
				d.purse.demand[i] = 0
			}
		}
		d.purse.bulk = nil
		if b := h.budgets[0]; h.r.Intn(4) == 0 {
			d.purse.bulk = [][]pool.Amount{{{Budget: b.Name, Units: b.Capacity * h.r.Float64() * 0.6}}}
		}
	}
	for i, b := range h.budgets {
		// What is needed is spent within a second.
		if storm {
			h.spend(d, i, d.purse.demand[i])
		} else if d.purse.demand[i] > 0 {
			h.spend(d, i, max(d.purse.demand[i], b.Rate)*moment.Seconds()*2*h.r.Float64())
		}
	}
	for _, v := range d.purse.bulk {
		if d.purse.level[0] >= v[0].Units {
			h.spend(d, 0, v[0].Units)
			d.purse.bulk = nil
		}
	}
}

func (h *history) event() {
	d := h.drawers[h.r.Intn(len(h.drawers))]
	switch h.r.Intn(6) {
	case 0:
		if h.faults.crash {
			h.crash(d)
			h.join(d.name)
		}
	case 1, 2:
		if h.faults.cut {
			d.cut = !d.cut
		}
	case 3:
		if h.faults.clock {
			h.server += time.Duration(h.r.NormFloat64() * 100e9)
			for i, b := range h.budgets {
				// That it was set shows by its disagreement with others alone.
				h.debts[i] = 2 * b.Rate
			}
		}
	case 4:
		if h.faults.edit {
			h.edit()
		}
	case 5:
		if h.faults.forget {
			for i := range h.budgets {
				// Who is cut off cannot say what it has; half of the capacity is left to such.
				h.debts[i] += max(0, h.unheard(i)-h.budgets[i].Capacity/2)
			}
			if err := h.store.client.FlushDB(context.Background()).Err(); err != nil {
				h.tb.Fatal(err)
			}
			h.tick()
		}
		if h.faults.stale {
			h.restore()
		}
	}
}

// unheard is what drawers have that are cut off.
func (h *history) unheard(i int) float64 {
	sum := 0.0
	for _, d := range h.drawers {
		if d.cut {
			sum += d.purse.level[i]
		}
	}
	return sum
}

// edit changes capacities a little, and never above what was measured by: rates stay, for the meters' sake.
func (h *history) edit() {
	for i := range h.budgets {
		h.budgets[i].Capacity *= 0.9
	}
}

// restore saves what the server knows, or has it know again what it knew then.
func (h *history) restore() {
	keys := h.store.keys(h.account)
	ctx := context.Background()
	if h.saved == nil {
		for _, key := range keys {
			h.saved = append(h.saved, h.store.client.Dump(ctx, key).Val())
		}
		return
	}
	for i, key := range keys {
		if h.saved[i] != "" {
			if err := h.store.client.RestoreReplace(ctx, key, time.Hour, h.saved[i]).Err(); err != nil {
				h.tb.Fatal(err)
			}
		}
	}
	h.saved = nil
}

// check fails if more was spent in any interval than B' and the refill.
func (h *history) check() {
	h.tb.Helper()
	for i, b := range h.budgets {
		most := h.limits[i]
		if m := h.meters[i]; m.worst > most+h.debts[i]+1e-6*most {
			h.tb.Fatalf("%s: %s: an interval saw %v above the refill, B' is %v, R %v, debts %v", h.now, b.Name, m.worst, most, b.Rate, h.debts[i])
		}
	}
}

// TestTheTheoremHoldsOverDrawers on the real script: whatever messages are lost, late, doubled or out of order, who
// crashes or is cut off, however clocks are set and limits edited, and whatever the server forgets, no interval sees more
// spent than B' + R·length.
func TestTheTheoremHoldsOverDrawers(t *testing.T) {
	s := open(t)
	for name, f := range map[string]faults{
		"network":  {},
		"crashes":  {crash: true},
		"cut off":  {cut: true},
		"clocks":   {clock: true, crash: true},
		"edits":    {edit: true, crash: true},
		"flushed":  {forget: true, crash: true},
		"stale":    {stale: true},
		"all this": {crash: true, cut: true, clock: true, edit: true},
	} {
		t.Run(name, func(t *testing.T) {
			n, tight := histories, 0
			if testing.Short() {
				n = 1
			}
			for seed := range n {
				h := newHistory(t, s, int64(seed)+digest(name), f)
				h.play(60 * time.Second)
				for i, b := range h.budgets {
					if h.meters[i].worst > 0.95*b.Capacity {
						tight++
					}
				}
			}
			t.Logf("%d histories, %d budgets were spent to within 5 %% of the bound", n, tight)
		})
	}
}

// digest has each kind of fault its own histories.
func digest(name string) int64 {
	sum := int64(0)
	for _, c := range name {
		sum = sum*31 + int64(c)
	}
	return sum % 1e9 * 1000
}
