// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"fmt"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

// canonical is 400,000 tokens a minute less a guard of 5 %, and 4,000 requests.
func canonical(holders int, lanes ...budget.Lane) Config {
	return Config{MaxHolders: holders, Lanes: lanes, Budgets: []Budget{
		{Name: "tokens", Rate: 400_000.0 / 60, Capacity: 380_000, Window: time.Minute, SmallCall: 2000},
		{Name: "requests", Rate: 4000.0 / 60, Capacity: 3800, Window: time.Minute, SmallCall: 1},
	}}
}

// lan is a network as clusters have it.
var lan = fate{delay: 30 * time.Millisecond}

// load is what one lane of a gateway offers: small calls at a rate, or one large call after another.
type load struct {
	lane string
	// perSecond small calls of so many tokens.
	perSecond, tokens float64
	// large calls of so many tokens, one waiting at a time.
	large float64

	waiting, due float64
	number       uint64
	since        time.Duration
	waits        []time.Duration
	served       float64
}

// loaded is a network whose gateways have loads.
type loaded struct {
	*network
	loads map[*gateway][]*load
	last  time.Duration
}

func newLoaded(tb testing.TB, cfg Config, f fate, gateways int) *loaded {
	tb.Helper()
	l := &loaded{network: newNetwork(tb, 1, cfg, f), loads: map[*gateway][]*load{}}
	for range gateways {
		l.join(nil, 0)
	}
	l.lead(1000*time.Hour, 0)
	return l
}

func (l *loaded) offer(i int, o *load) *load {
	g := l.gateways[i]
	o.since = l.now
	l.loads[g] = append(l.loads[g], o)
	return o
}

// go on for a time.
func (l *loaded) goOn(d time.Duration) { l.run(l.now+d, l.step) }

func (l *loaded) step() {
	dt := (l.now - l.last).Seconds()
	l.last = l.now
	for _, g := range l.gateways {
		g.demands = g.demands[:0]
		for _, o := range l.loads[g] {
			if o.large > 0 {
				l.stepLarge(g, o)
			} else {
				l.stepSmall(g, o, dt)
			}
		}
	}
}

func (l *loaded) stepSmall(g *gateway, o *load, dt float64) {
	o.due += o.perSecond * dt
	for ; o.due >= 1; o.due-- {
		o.waiting++
	}
	cost := []Amount{{"tokens", o.tokens}, {"requests", 1}}
	for o.waiting >= 1 && l.take(g, cost) {
		o.waiting--
		o.served += o.tokens
	}
	// What waits too long is declined.
	o.waiting = min(o.waiting, o.perSecond*10)
	n := min(o.waiting, 100) + 2*o.perSecond
	g.demands = append(g.demands, Demand{Lane: o.lane, Small: []Amount{{"tokens", n * o.tokens}, {"requests", n}}})
}

// stepLarge sends a large call once it was granted: others of the gateway leave it what it was granted for.
func (l *loaded) stepLarge(g *gateway, o *load) {
	if o.number == 0 {
		o.number, o.since = g.bulk[o.lane]+1, l.now
	}
	cost := []Amount{{"tokens", o.large}, {"requests", 1}}
	if _, granted := g.Granted(o.lane, "tokens"); granted >= o.number && l.take(g, cost) {
		o.waits = append(o.waits, l.now-o.since)
		o.served += o.large
		o.number++
		o.since = l.now
	}
	g.demands = append(g.demands, Demand{Lane: o.lane, Bulk: o.number, Cost: cost})
}

// used is the part of the refill that was spent since a total.
func (l *loaded) used(total float64, d time.Duration) float64 {
	m := l.meters["tokens"]
	return (m.total - total) / (m.rate * d.Seconds())
}

// One hot gateway among nine idle ones has the whole rate: idle ones hold level, not rate.
func TestC10OneHotGatewayAmongIdleOnesGetsTheRate(t *testing.T) {
	for name, f := range map[string]fate{"lan": lan, "slow and lossy": {delay: 200 * time.Millisecond, lost: 0.1, doubled: 0.1}} {
		t.Run(name, func(t *testing.T) {
			l := newLoaded(t, canonical(10), f, 10)
			for i := 1; i < 10; i++ {
				// What idles had something to do once.
				l.offer(i, &load{perSecond: 1, tokens: 2000})
			}
			l.goOn(20 * time.Second)
			for i := 1; i < 10; i++ {
				l.loads[l.gateways[i]] = nil
			}
			l.offer(0, &load{perSecond: 5, tokens: 2000})
			l.goOn(2 * time.Minute)
			before := l.meters["tokens"].total
			l.goOn(5 * time.Minute)
			used := l.used(before, 5*time.Minute)
			l.check()
			t.Logf("%.4f of the rate", used)
			if used < 0.98 || used > 1.01 {
				t.Errorf("the hot gateway had %.4f of the rate", used)
			}
		})
	}
}

// At 1.5 times the load, however it is spread, the rate is used.
func TestOverloadUsesTheRateHoweverItIsSpread(t *testing.T) {
	for name, spread := range map[string][]float64{
		"equal": {1, 1, 1, 1}, "skewed": {70, 10, 10, 10}, "many": {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLoaded(t, canonical(len(spread)), lan, len(spread))
			sum := 0.0
			for _, s := range spread {
				sum += s
			}
			for i, s := range spread {
				l.offer(i, &load{perSecond: 5 * s / sum, tokens: 2000})
			}
			l.goOn(time.Minute)
			before := l.meters["tokens"].total
			l.goOn(5 * time.Minute)
			used := l.used(before, 5*time.Minute)
			l.check()
			t.Logf("%.4f of the rate", used)
			if used < 0.98 || used > 1.01 {
				t.Errorf("%.4f of the rate were used", used)
			}
		})
	}
}

// A burst of a few seconds is shared as well as one of a minute.
func TestSmallBurstsAreUsedToo(t *testing.T) {
	for _, seconds := range []float64{3, 5, 10} {
		t.Run(fmt.Sprint(seconds, "s"), func(t *testing.T) {
			cfg := canonical(4)
			for i := range cfg.Budgets {
				cfg.Budgets[i].Capacity = cfg.Budgets[i].Rate * seconds
			}
			l := newLoaded(t, cfg, lan, 4)
			for i := range 4 {
				l.offer(i, &load{perSecond: 5.0 / 4, tokens: 1000 + 500*float64(i)})
			}
			l.goOn(time.Minute)
			before := l.meters["tokens"].total
			l.goOn(3 * time.Minute)
			used := l.used(before, 3*time.Minute)
			l.check()
			t.Logf("%.4f of the rate", used)
			if used < 0.98 {
				t.Errorf("%.4f of the rate were used", used)
			}
		})
	}
}

// A tenant that comes back to its share has it within a report interval and c/(g·R), while another has borrowed all.
func TestReclaimIsWithinAReportIntervalAndTheCallsOwnTime(t *testing.T) {
	lanes := []budget.Lane{{Name: "a", Share: 0.4, Hold: -1}, {Name: "b", Share: 0.6}}
	l := newLoaded(t, canonical(4, lanes...), lan, 2)
	l.offer(1, &load{lane: "b", perSecond: 6, tokens: 2000})
	l.goOn(5 * time.Minute)
	for _, large := range []float64{2000, 10_000, 60_000} {
		o := l.offer(0, &load{lane: "a", large: large})
		l.goOn(2 * time.Minute)
		l.loads[l.gateways[0]] = nil
		rate := l.cfg.Budgets[0].Rate
		// The step of the model and two ways through the network come on top.
		bound := time.Duration(large/(0.4*rate)*1e9) + l.cfg.Interval + 4*lan.delay
		if len(o.waits) < 3 {
			t.Fatalf("%v tokens: %d calls went", large, len(o.waits))
		}
		worst := time.Duration(0)
		for _, w := range o.waits {
			worst = max(worst, w)
		}
		t.Logf("%v tokens: first after %v, worst %v of %d, bound %v", large, o.waits[0], worst, len(o.waits), bound)
		if worst > bound {
			t.Errorf("%v tokens: one waited %v, the bound is %v", large, worst, bound)
		}
		l.goOn(time.Minute)
	}
	l.check()
}

// Tenants in need have at least their guarantees, and share by them what others leave.
func TestTenantsHaveTheirGuarantees(t *testing.T) {
	lanes := []budget.Lane{{Name: "a", Share: 0.5}, {Name: "b", Share: 0.3}, {Name: "c", Share: 0.2}}
	l := newLoaded(t, canonical(6, lanes...), lan, 6)
	var loads []*load
	for i := range 6 {
		loads = append(loads, l.offer(i, &load{lane: lanes[i/2].Name, perSecond: 5, tokens: 1000}))
	}
	l.goOn(2 * time.Minute)
	for _, o := range loads {
		o.served = 0
	}
	l.goOn(5 * time.Minute)
	rate := l.cfg.Budgets[0].Rate
	for i, lane := range lanes {
		got := (loads[2*i].served + loads[2*i+1].served) / (rate * 300)
		t.Logf("%s: %.3f of the rate", lane.Name, got)
		if got < 0.98*lane.Share {
			t.Errorf("lane %s had %.3f of the rate, its share is %v", lane.Name, got, lane.Share)
		}
	}
	l.check()
}

// Crash loops leak nothing: each crash costs what was held, and that is no more than two intervals of its own rate.
func TestC10CrashLoopsLeakNothing(t *testing.T) {
	for name, part := range map[string]float64{"one of ten": 0.1, "the hot one": 0.7} {
		t.Run(name, func(t *testing.T) {
			l := newLoaded(t, canonical(10), lan, 10)
			for i := range 10 {
				p := part
				if i > 0 {
					p = (1 - part) / 9
				}
				l.offer(i, &load{perSecond: 25 * p, tokens: 400})
			}
			l.goOn(time.Minute)
			before, burnt := l.meters["tokens"].total, l.leader().Figures(l.leader().at(l.now)).Budgets[0].Burnt
			const crashes = 60
			for range crashes {
				l.goOn(time.Duration(9.5e9 + l.rand.Float64()*1e9))
				l.crash(l.gateways[0], 0)
				l.check()
			}
			d, rate := l.now-time.Minute, l.cfg.Budgets[0].Rate
			used := l.used(before, d)
			burnt = (l.leader().Figures(l.leader().at(l.now)).Budgets[0].Burnt - burnt) / crashes / rate
			t.Logf("%.4f of the rate were used, each crash burnt %.2f s of it", used, burnt)
			if used < 0.98-0.2*part || used > 1.01 {
				t.Errorf("%.4f of the rate were used", used)
			}
			if burnt > 2*part {
				t.Errorf("each crash burnt %.2f s of the rate", burnt)
			}
		})
	}
}

// A change of leaders costs what was in the pool, and no rate.
func TestLeaderChangesCostNoRate(t *testing.T) {
	l := newLoaded(t, canonical(4), lan, 4)
	for i := range 4 {
		l.offer(i, &load{perSecond: 1.25, tokens: 2000})
	}
	l.goOn(2 * time.Minute)
	before := l.meters["tokens"].total
	for range 5 {
		old := l.leader()
		l.publish(old)
		old.end = l.now
		old.Extend(old.at(l.now))
		l.goOn(2 * time.Second)
		l.lead(1000*time.Hour, 0)
		l.goOn(58 * time.Second)
		l.check()
	}
	used := l.used(before, 5*time.Minute)
	t.Logf("%.4f of the rate", used)
	// Two seconds of each minute nobody leads.
	if used < 0.95 {
		t.Errorf("%.4f of the rate were used", used)
	}
}
