// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"fmt"
	"math"
	"math/rand"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/testing/seed"
)

// history draws a world of tenants, and what goes wrong and is edited in it.
type history struct {
	*world
	r      *rand.Rand
	routes []Route
	// bursts are the largest that each limit ever had: no edit takes back what gateways hold.
	bursts map[string]float64
	joined int
	edits  int
}

// most is how many gateways there are at a time.
const most = 6

func drawHistory(tb testing.TB, number int64) *history {
	tb.Helper()
	r := rand.New(rand.NewSource(number))
	f := fate{
		lost: r.Float64() * r.Float64() * 0.5, doubled: r.Float64() * 0.3,
		delay: time.Duration(math.Exp(r.Float64()*7)) * time.Millisecond, late: r.Float64() * 0.2,
	}
	h := &history{world: newWorld(tb, number, f), r: r, bursts: map[string]float64{}}
	if r.Intn(2) == 0 {
		h.drift = func() float64 { return (2*r.Float64() - 1) * 1e-3 }
	}
	if number%3 == 0 {
		h.tardy = 4 * time.Second
	}
	if number%4 == 0 {
		h.seen = h.say
	}
	h.sell("x")
	h.sell("y")
	for _, ns := range []string{"a", "b", "c"}[:1+r.Intn(3)] {
		for _, policy := range []string{"p", "q"}[:1+r.Intn(2)] {
			h.write(ns, policy)
			h.routes = append(h.routes, Route{ns, policy, "openai"})
		}
	}
	h.lead(time.Duration(r.ExpFloat64() * 60e9))
	return h
}

// limit has a rate that goes with its name, so that it is the same over edits, and any burst.
func (h *history) limit(name string) plan.Limit {
	perMinute := int64(600 * (1 + len(name)%3))
	burst := int64(5 + h.r.Intn(150))
	if name == "calls" {
		return plan.Limit{Name: name, Budget: plan.InFlight, Amount: 20, Burst: 20}
	}
	return tokens(name, perMinute, burst)
}

func (h *history) draw(names ...string) []plan.Limit {
	var out []plan.Limit
	for _, name := range names {
		if h.r.Intn(2) == 0 {
			out = append(out, h.limit(name))
		}
	}
	return out
}

// say has a gateway say anything about what one of its providers has.
func (h *history) say(d *drawing) []pool.Amount {
	if len(d.plan.Limits) == 0 || h.r.Intn(3) > 0 {
		return nil
	}
	l := d.plan.Limits[h.r.Intn(len(d.plan.Limits))]
	return []pool.Amount{{Budget: l.Name, Units: (1.5*h.r.Float64() - 0.25) * float64(l.Burst)}}
}

// sell draws an account anew.
func (h *history) sell(name string) {
	a := Account{Name: name, MaxGateways: 2 * most, Limits: append(h.draw("aa", "bbb", "calls"), h.limit("c"))}
	for _, ns := range []string{"a", "b", "c", "d"} {
		t := Tenant{Namespace: ns, GuaranteedPercent: int32(h.r.Intn(40)), Weight: int32(h.r.Intn(4))}
		if h.r.Intn(2) == 0 {
			t.LendablePercent = of(int32(h.r.Intn(101)))
		}
		if h.r.Intn(2) == 0 {
			t.BorrowingLimitPercent = of(int32(h.r.Intn(60)))
		}
		if h.r.Intn(3) > 0 {
			a.Tenants = append(a.Tenants, t)
		}
	}
	h.sold(a)
}

// write draws a policy anew.
func (h *history) write(ns, policy string) {
	account := []string{"", "x", "y"}[h.r.Intn(3)]
	own := h.draw("o", "pp", "calls")
	if account == "" && len(own) == 0 {
		own = append(own, h.limit("o"))
	}
	shares := []int32{int32(h.r.Intn(500)), int32(h.r.Intn(500))}
	h.policy(ns, policy, account, 2*most, lanes(shares[:1+h.r.Intn(2)]...), own...)
}

// play lets things happen for a while.
func (h *history) play() {
	for range 2 + h.r.Intn(3) {
		h.arrival()
	}
	for range 6 + h.r.Intn(12) {
		h.event()
		h.note()
		h.goOn(time.Duration(h.r.ExpFloat64() * 1.5e9))
		h.check()
	}
}

func (h *history) arrival() {
	h.joined++
	r := h.routes[h.r.Intn(len(h.routes))]
	g := h.join(fmt.Sprint("g", h.joined), r)
	h.demand(g)
}

// demand draws what a gateway calls.
func (h *history) demand(g *gateway) {
	d := g.draws[0]
	d.loads = nil
	for range 1 + h.r.Intn(2) {
		lane := []string{"lane0", plan.DefaultLane}[h.r.Intn(2)]
		switch h.r.Intn(4) {
		case 0:
			g.offer(&load{lane: lane, large: 1 + h.r.Float64()*100, pause: time.Duration(h.r.Intn(2)) * time.Second})
		case 1:
			// What it has lies there for a while, and goes at once.
			g.offer(&load{lane: lane, perSecond: 10, tokens: 1, hoards: true})
		default:
			g.offer(&load{lane: lane, perSecond: 1 + h.r.Float64()*20, tokens: 1 + h.r.Float64()*5})
		}
	}
}

// event is something that goes wrong, comes right again, or is edited.
func (h *history) event() {
	g := h.gateways[h.r.Intn(len(h.gateways))]
	switch h.r.Intn(14) {
	case 0:
		h.crash(g)
	case 1, 2:
		g.cut = !g.cut
	case 3:
		if len(h.gateways) < most {
			h.arrival()
		}
	case 4:
		if len(h.gateways) > 1 && !g.cut {
			h.leave(g)
		}
	case 5:
		if l := h.leader(); l != nil && h.r.Intn(2) == 0 {
			if h.r.Intn(2) == 0 {
				h.hand()
			}
			l.end = h.now
			l.Extend(l.at(h.now))
		}
	case 6:
		h.demand(g)
	case 7:
		h.mute = !h.mute
	case 8, 9:
		h.edits++
		h.sell([]string{"x", "y"}[h.r.Intn(2)])
	case 10, 11, 12:
		h.edits++
		r := h.routes[h.r.Intn(len(h.routes))]
		h.write(r.Namespace, r.Policy)
	}
	if h.leader() == nil {
		if h.r.Intn(10) == 0 {
			// The lease was deleted meanwhile.
			h.before = 0
		}
		h.lead(time.Duration(h.r.ExpFloat64() * 60e9))
	}
}

// note remembers the largest bursts, and what may be spent beside them: the safe share of whoever is not heard.
func (h *history) note() {
	for name, l := range h.limits() {
		if l.Budget != plan.InFlight {
			h.bursts[name] = max(h.bursts[name], Budget(l, 1).Capacity)
		}
	}
}

// check fails if books, balances, or what the provider saw exceed what there is.
func (h *history) check() {
	h.tb.Helper()
	if l := h.leader(); l != nil {
		l.settle(l.at(h.now))
	}
	for key, s := range h.books() {
		for _, b := range s.pool.Figures(h.leader().at(h.now)).Budgets {
			i, ok := s.places[b.Name]
			if !ok {
				// A shadow.
				continue
			}
			c := &s.cfg.Budgets[i]
			if math.IsNaN(b.Level + b.Held + b.Unknown) {
				h.fatalf("%v %s: level %v, held %v, unknown %v", key, b.Name, b.Level, b.Held, b.Unknown)
			}
			if c.Kind == budget.Continuous && b.Level+b.Held+b.Unknown > c.Capacity*(1+1e-6)+1e-6 {
				h.fatalf("%v %s: P %v + H %v + unknown %v exceed %v", key, b.Name, b.Level, b.Held, b.Unknown, c.Capacity)
			}
		}
	}
	for name, burst := range h.bursts {
		m := h.meters[name]
		bound := burst + m.owed + m.rate*h.fastest*h.now.Seconds()
		if m.worst > bound*(1+1e-6)+1e-6 {
			h.fatalf("%s: an interval saw %v above the refill, B' was at most %v, owed %v", name, m.worst, burst, m.owed)
		}
	}
}

// The theorem, for all limits of all accounts and policies: whatever the network does, whoever crashes, leads and edits,
// P, what gateways have and what may be out are at most B', and in every interval no more is spent than B' + R·length.
func TestTheTheoremHoldsOverEditsAndLeaders(t *testing.T) {
	n := histories * seed.Times()
	if testing.Short() {
		n /= 10
	}
	var leaders, crashes, edits, tight, limits, waited atomic.Int64
	const shards = 4
	t.Run("histories", func(t *testing.T) {
		for shard := range shards {
			t.Run(fmt.Sprint(shard), func(t *testing.T) {
				t.Parallel()
				for i := shard; i < n; i += shards {
					h := drawHistory(t, seed.First()+int64(i))
					h.note()
					h.play()
					leaders.Add(int64(h.epoch))
					crashes.Add(int64(h.crashes))
					edits.Add(int64(h.edits))
					waited.Add(int64(h.waited))
					limits.Add(int64(len(h.bursts)))
					for name, burst := range h.bursts {
						if h.meters[name].worst > 0.9*burst {
							tight.Add(1)
						}
					}
				}
			})
		}
	})
	t.Logf("%d histories with %d limits, %d leaders, %d crashes and %d edits; %d limits were spent to within a tenth of the bound",
		n, limits.Load(), leaders.Load(), crashes.Load(), edits.Load(), tight.Load())
	t.Logf("in %d steps a grant waited for a bound to be published", waited.Load())
	if waited.Load() < int64(n) {
		t.Error("the histories hardly ever have a grant wait to be published")
	}
	if tight.Load() < int64(n)/40 {
		t.Error("the histories hardly ever come near the bound: they show little")
	}
}

// conforming worlds have the same routes whatever the order in which they were written.
func TestThePoolsDoNotDependOnTheOrderOfEdits(t *testing.T) {
	for i := range 50 * seed.Times() {
		number := seed.First() + int64(i)
		h := drawHistory(t, number)
		h.arrival()
		for range 10 {
			h.event()
		}
		l := h.leader()
		l.settle(l.at(h.now))
		fresh := New(h.opts)
		names := make([]string, 0, len(h.plans))
		for ns := range h.plans {
			names = append(names, ns)
		}
		slices.Sort(names)
		for _, ns := range names {
			fresh.SetPlan(ns, h.plans[ns], start)
		}
		fresh.SetAccounts(h.accounts, start)
		fresh.Lead(Leadership{Epoch: 99}, start)
		if len(fresh.pools) != len(l.pools) {
			t.Fatalf("seed %d: %d pools, and %d when written at once", number, len(l.pools), len(fresh.pools))
		}
		for key, s := range fresh.pools {
			if other := l.pools[key]; other == nil || other.digest != s.digest {
				t.Fatalf("seed %d: pool %v differs", number, key)
			}
		}
	}
}
