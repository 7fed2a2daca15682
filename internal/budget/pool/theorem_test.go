// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"fmt"
	"math"
	"math/rand"
	"sync/atomic"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/testing/seed"
)

// check fails if the pool's books or the theorem do not hold at this moment.
func (n *network) check() {
	n.tb.Helper()
	l := n.leader()
	for i, b := range n.cfg.Budgets {
		tol := 1e-6 * (b.Capacity + 1)
		x := 0.0
		if l != nil {
			f := l.Figures(l.at(n.now)).Budgets[i]
			for what, v := range map[string]float64{"level": f.Level, "held": f.Held, "unknown": f.Unknown} {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					n.fatalf("%s: %s is %v", b.Name, what, v)
				}
			}
			most := b.Capacity
			if b.Kind == budget.Continuous {
				x = f.Level
			} else {
				// Slots in use cannot be called back by an edit.
				most = n.largest[b.Name]
			}
			if sum := x + f.Held + f.Unknown; sum > most+tol {
				n.fatalf("%s: P %v + H %v + unknown %v exceed %v", b.Name, x, f.Held, f.Unknown, b.Capacity)
			}
		}
		for _, g := range n.gateways {
			have := g.Balance(b.Name, g.at(n.now))
			if b.Kind == budget.Slots {
				have += g.pockets[i].inUse
			}
			x += max(0, have)
		}
		if x > n.largest[b.Name]+tol && b.Kind == budget.Continuous {
			n.fatalf("%s: X is %v of %v", b.Name, x, b.Capacity)
		}
		n.conforms(b)
	}
	if l != nil {
		n.checkShadows(l)
	}
}

// checkShadows fails if a shadow's books do not hold.
func (n *network) checkShadows(l *leading) {
	n.tb.Helper()
	f := l.Figures(l.at(n.now)).Budgets[len(n.cfg.Budgets):]
	for i, s := range n.cfg.Shadows {
		tol := 1e-6 * (s.Capacity + 1)
		if sum := f[i].Level + f[i].Held + f[i].Unknown; math.IsNaN(sum) || sum > s.Capacity+tol || f[i].Held < -tol {
			n.fatalf("%s: P %v + H %v + unknown %v, of %v", s.Name, f[i].Level, f[i].Held, f[i].Unknown, s.Capacity)
		}
	}
}

// conforms fails if some interval saw more than B' + R·length and the debts.
func (n *network) conforms(b Budget) {
	n.tb.Helper()
	m := n.meters[b.Name]
	drift := m.mostRate * n.fastest * n.now.Seconds()
	alone := 0.0
	if _, safe := Safe(b, n.cfg.MaxHolders); b.Kind == budget.Slots && safe < 1 {
		// None owns a slot, and who hears nothing may have one.
		alone = float64(n.cfg.MaxHolders)
	}
	if n.reowned[b.Name] {
		// Holders own them at once, and those that were granted before come back as calls end.
		alone += float64(n.cfg.MaxHolders)
	}
	if bound := n.largest[b.Name] + alone + m.owed + m.lost + drift; m.worst > bound+1e-6*(bound+1) {
		n.fatalf("%s: an interval saw %v above the refill, B' is %v, debts %v and %v, drift %v",
			b.Name, m.worst, b.Capacity, m.owed, m.lost, drift)
	}
}

// history draws a world and what happens in it.
type history struct {
	*network
	r *rand.Rand
	// overspends: calls cost up to half more than they took.
	overspends bool
	drift      float64
	// steady is a leader that lives on, and no edits: what mode LastGrant needs.
	steady bool
	// editing histories have edits, which leave more room in the bound.
	editing bool
	edits   int
}

func drawConfig(r *rand.Rand) Config {
	cfg := Config{MaxHolders: 1 + r.Intn(6), Drain: 20 * time.Second}
	for b := range 1 + r.Intn(2) {
		rate := math.Exp(r.Float64() * 8)
		capacity := rate * math.Exp(r.Float64()*4.5)
		cfg.Budgets = append(cfg.Budgets, Budget{
			Name: fmt.Sprint("b", b), Rate: rate, Capacity: capacity, Window: time.Minute,
			SmallCall: capacity * r.Float64(),
		})
	}
	if r.Intn(3) == 0 {
		cfg.Budgets = append(cfg.Budgets, Budget{Name: "slots", Kind: budget.Slots, Capacity: float64(1 + r.Intn(40))})
	}
	lanes := 1 + r.Intn(3)
	for i := range lanes {
		cfg.Lanes = append(cfg.Lanes, budget.Lane{
			Name: fmt.Sprint("l", i), Share: r.Float64() / float64(lanes), Priority: int32(r.Intn(2)), Weight: float64(1 + r.Intn(3)),
		})
	}
	drawTenants(r, &cfg)
	return cfg
}

// drawTenants draws groups and shadows, or neither.
func drawTenants(r *rand.Rand, cfg *Config) {
	if r.Intn(2) == 0 {
		for i := range cfg.Lanes {
			cfg.Lanes[i].Group = fmt.Sprint("g", r.Intn(2))
		}
		cfg.Groups = []budget.Group{{Name: "g0", Weight: 3, Unlent: r.Float64() * float64(r.Intn(2))}, {Name: "g1"}}
	}
	for i := range r.Intn(3) {
		part := r.Float64()
		s := Shadow{Name: fmt.Sprint("s", i), Of: "b0", Rate: part * cfg.Budgets[0].Rate, Capacity: part * cfg.Budgets[0].Capacity}
		for _, l := range cfg.Lanes {
			if r.Intn(2) == 0 {
				s.Lanes = append(s.Lanes, l.Name)
			}
		}
		cfg.Shadows = append(cfg.Shadows, s)
	}
}

// edit changes every number of the configuration.
func (h *history) edit() {
	cfg := h.cfg
	cfg.Budgets = append([]Budget(nil), cfg.Budgets...)
	for i := range cfg.Budgets {
		b := &cfg.Budgets[i]
		b.Capacity *= math.Exp(h.r.NormFloat64())
		b.Rate *= math.Exp(h.r.NormFloat64())
		b.Outstanding = 0
	}
	cfg.Shadows = append([]Shadow(nil), cfg.Shadows...)
	for i := range cfg.Shadows {
		s := &cfg.Shadows[i]
		s.Capacity *= math.Exp(h.r.NormFloat64())
		s.Lanes = s.Lanes[:h.r.Intn(len(s.Lanes)+1)]
	}
	h.apply(cfg)
	h.edits++
}

// say has a gateway say anything about the provider.
func (h *history) say(*gateway) []Amount {
	if h.r.Intn(3) > 0 {
		return nil
	}
	b := h.cfg.Budgets[h.r.Intn(len(h.cfg.Budgets))]
	return []Amount{{b.Name, (1.5*h.r.Float64() - 0.25) * b.Capacity}}
}

// may is what a gateway may touch: all budgets, and some lanes.
func (h *history) may(g *gateway) Use {
	u := Use{Outage: h.outage}
	for _, b := range h.cfg.Budgets {
		u.Budgets = append(u.Budgets, b.Name)
	}
	for i, l := range h.cfg.Lanes {
		if (len(g.name)+int(g.name[len(g.name)-1])+i)%3 > 0 {
			u.Lanes = append(u.Lanes, l.Name)
		}
	}
	return u
}

func drawHistory(tb testing.TB, number int64) *history {
	tb.Helper()
	r := rand.New(rand.NewSource(number))
	h := &history{r: r, overspends: r.Intn(3) == 0}
	f := fate{
		lost: r.Float64() * r.Float64() * 0.5, doubled: r.Float64() * 0.3,
		delay: time.Duration(math.Exp(r.Float64()*7)) * time.Millisecond, late: r.Float64() * 0.2,
	}
	if r.Intn(2) == 0 {
		h.drift = 1e-3
	}
	h.network = newNetwork(tb, number, drawConfig(r), f)
	h.editing = r.Intn(3) == 0
	if r.Intn(3) == 0 {
		h.seen = h.say
	}
	if number%3 == 0 {
		// What is parked waits so long that much happens meanwhile.
		h.tardy = 40
	}
	if r.Intn(3) == 0 {
		h.use = h.may
	}
	if r.Intn(8) == 0 {
		h.outage, h.steady = OutageLastGrant, true
		h.cfg.Silent = OutageLastGrant
	}
	return h
}

func (h *history) drawDrift() float64 { return (2*h.r.Float64() - 1) * h.drift }

// play lets things happen for a while.
func (h *history) play() {
	for range 1 + h.r.Intn(h.cfg.MaxHolders) {
		h.join(nil, h.drawDrift())
	}
	for range 5 + h.r.Intn(12) {
		h.event()
		h.run(h.now+time.Duration(h.r.ExpFloat64()*1.5e9), h.act)
		h.check()
	}
}

// event is something that goes wrong, or comes right again.
func (h *history) event() {
	g := h.gateways[h.r.Intn(len(h.gateways))]
	switch h.r.Intn(11) {
	case 0:
		h.crash(g, h.drawDrift())
	case 1, 2:
		g.cut = !g.cut
	case 3:
		if len(h.gateways) < h.cfg.MaxHolders {
			h.join(nil, h.drawDrift())
		}
	case 4:
		// The old leader has ended by every clock; it still hears and answers.
		if l := h.leader(); l == nil || h.steady {
			break
		} else if h.r.Intn(2) == 0 {
			l.end = h.now
			l.Extend(l.at(h.now))
		}
	case 5:
		h.demand(g)
	case 6:
		if h.editing && !h.steady {
			h.edit()
		}
	}
	if h.leader() == nil {
		term := time.Duration(h.r.ExpFloat64() * 60e9)
		if h.steady {
			term = time.Hour
		}
		h.lead(term, h.drawDrift())
	}
}

// demand draws what a gateway needs.
func (h *history) demand(g *gateway) {
	g.demands = nil
	for _, l := range h.cfg.Lanes {
		d := Demand{Lane: l.Name}
		part := h.r.Float64() * h.r.Float64() * 3
		for _, b := range h.cfg.Budgets {
			if b.Kind == budget.Slots {
				d.Small = append(d.Small, Amount{b.Name, float64(h.r.Intn(5))})
				continue
			}
			d.Small = append(d.Small, Amount{b.Name, part * b.Rate})
		}
		if h.r.Intn(4) == 0 {
			d.Bulk = g.seq + 1
			d.Cost = []Amount{{h.cfg.Budgets[0].Name, h.cfg.Budgets[0].Capacity * h.r.Float64()}}
		}
		g.demands = append(g.demands, d)
	}
}

// act has a gateway spend and settle.
func (h *history) act() {
	g := h.gateways[h.r.Intn(len(h.gateways))]
	if h.r.Intn(20) == 0 {
		h.demand(g)
	}
	for range h.r.Intn(4) {
		var cost []Amount
		for _, b := range h.cfg.Budgets {
			units := g.Balance(b.Name, g.at(h.now)) * h.r.Float64() * 1.3
			if b.Kind == budget.Slots {
				units = 1
			}
			cost = append(cost, Amount{b.Name, max(0, units)})
		}
		h.take(g, cost)
	}
	if h.r.Intn(3) == 0 {
		part := h.r.Float64()
		if h.overspends {
			part *= 1.5
		}
		h.settle(g, part)
	}
}

// The theorem: whatever the network does, whoever crashes and leads, P and all true balances are at most B', and in
// every interval no more is spent than B' + R·length and the debt of settlements.
func TestTheTheoremHoldsUnderAnyNetwork(t *testing.T) {
	n := histories * seed.Times()
	if testing.Short() {
		n /= 10
	}
	var reports, leaders, crashes, edits, tight, parked, putOff atomic.Int64
	const shards = 4
	t.Run("histories", func(t *testing.T) {
		for shard := range shards {
			t.Run(fmt.Sprint(shard), func(t *testing.T) {
				t.Parallel()
				for i := shard; i < n; i += shards {
					h := drawHistory(t, seed.First()+int64(i))
					h.play()
					reports.Add(int64(h.reported))
					leaders.Add(int64(h.epoch))
					crashes.Add(int64(h.crashes))
					edits.Add(int64(h.edits))
					parked.Add(int64(h.parked))
					putOff.Add(int64(h.putOff))
					for _, b := range h.cfg.Budgets {
						if h.meters[b.Name].worst > 0.95*h.largest[b.Name] {
							tight.Add(1)
						}
					}
				}
			})
		}
	})
	t.Logf("%d histories with %d leaders, %d crashes and %d edits; %d reports arrived; %d budgets were spent to within 5 %% of the bound",
		n, leaders.Load(), crashes.Load(), edits.Load(), reports.Load(), tight.Load())
	t.Logf("%d claims were parked when they were admitted, %d put off", parked.Load(), putOff.Load())
	if putOff.Load() < int64(n)/100 {
		t.Error("the histories hardly ever lower P below what is parked")
	}
	if edits.Load() < int64(n)/4 {
		t.Error("the histories hardly have any edits")
	}
	if tight.Load() < int64(n)/40 {
		t.Error("the histories hardly ever come near the bound: they show little")
	}
}
