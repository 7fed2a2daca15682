// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"fmt"
	"math/rand"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/seed"
)

// hungry is a network of mode LastGrant, where gateways spend what they can at every moment.
func hungry(t *testing.T, number int64) (*loaded, []*load) {
	t.Helper()
	r := rand.New(rand.NewSource(number))
	n := 2 + r.Intn(5)
	cfg := canonical(n + r.Intn(4))
	for i := range cfg.Budgets {
		cfg.Budgets[i].Capacity = cfg.Budgets[i].Rate * (3 + 20*r.Float64())
		cfg.Budgets[i].SmallCall = []float64{1500, 15}[i]
	}
	cfg.Silent = OutageLastGrant
	l := newLoaded(t, cfg, fate{delay: 30 * time.Millisecond, lost: 0.1 * r.Float64()}, 0)
	l.outage = OutageLastGrant
	var loads []*load
	for i := range n {
		l.join(nil, 0)
		o := &load{perSecond: 6 * r.Float64() * r.Float64() * 10, tokens: 50 + 50*r.Float64()}
		loads = append(loads, l.offer(i, o))
	}
	return l, loads
}

// Whoever hears nothing goes on at what it was told last, for as long as it takes, and all together stay within the rate:
// while any of them come and go, and what they need changes.
func TestLastGrantsStayWithinTheRate(t *testing.T) {
	cut, used := 0, 0.0
	for i := range 30 * seed.Times() {
		l, loads := hungry(t, seed.First()+int64(i))
		r := rand.New(rand.NewSource(seed.First() + int64(i)))
		for range 12 {
			for _, g := range l.gateways {
				if r.Intn(3) == 0 {
					g.cut = !g.cut
				}
			}
			for _, o := range loads {
				if r.Intn(4) == 0 {
					o.perSecond = 60 * r.Float64() * r.Float64()
				}
			}
			l.goOn(time.Duration(r.ExpFloat64() * 20e9))
			l.check()
		}
		for _, g := range l.gateways {
			g.cut = true
		}
		for _, o := range loads {
			o.perSecond = 200
		}
		l.goOn(15 * time.Second)
		before := l.meters["tokens"].total
		l.goOn(2 * time.Minute)
		l.check()
		used += l.used(before, 2*time.Minute)
		cut++
	}
	t.Logf("when all were cut off, they used %.3f of the rate", used/float64(cut))
	if used/float64(cut) < 0.6 {
		t.Errorf("they used %.3f of the rate: that is hardly more than safe shares", used/float64(cut))
	}
}

// Without a lease the safe share grows as fast as was told last, and no larger.
func TestLastGrantIsTheSafeShareAtAnotherRate(t *testing.T) {
	for _, tc := range []struct {
		mode Outage
		want float64
	}{{OutageSafe, 25}, {OutageLastGrant, 50}, {OutageOpen, 25}} {
		t.Run(fmt.Sprint(tc.mode), func(t *testing.T) {
			x := newPair(t, one, Leader{Epoch: 1, First: true})
			x.h.cfg.Outage = tc.mode
			x.p.Join("h", Use{Budgets: []string{"b"}, Lanes: []string{"default"}, Outage: tc.mode}, x.now)
			for range 20 {
				x.wait(time.Second)
				x.tell(Demand{Lane: "default", Small: []Amount{{"b", 200}}})
				x.h.Take([]Amount{{"b", 90}}, x.now)
			}
			x.wait(ttl)
			x.wait(time.Second)
			if got := x.h.Balance("b", x.now); got < tc.want || got > 50 {
				t.Errorf("%v a second after the lease ended", got)
			}
			rate := x.p.Figures(x.now).Budgets[0].Rate
			if told, _ := x.h.Expected("b"); tc.mode == OutageLastGrant && rate > 100-told+1e-9 {
				t.Errorf("the pool refills at %v beside %v", rate, told)
			} else if tc.mode != OutageLastGrant && rate != 75 {
				t.Errorf("the pool refills at %v", rate)
			}
		})
	}
}

// What one was told before it was cut off is not told to another, though it needs no more for all that is known.
func TestNothingIsPromisedTwice(t *testing.T) {
	cfg := canonical(4)
	for i := range cfg.Budgets {
		cfg.Budgets[i].Capacity = cfg.Budgets[i].Rate * 5
		cfg.Budgets[i].SmallCall = []float64{1500, 15}[i]
	}
	cfg.Silent = OutageLastGrant
	l := newLoaded(t, cfg, lan, 0)
	l.outage = OutageLastGrant
	a, b := l.join(nil, 0), l.join(nil, 0)
	hot, cold := l.offer(0, &load{perSecond: 100, tokens: 100}), l.offer(1, &load{perSecond: 0.1, tokens: 100})
	l.goOn(time.Minute)
	a.cut = true
	cold.perSecond = 100
	l.goOn(8 * time.Second)
	b.cut = true
	l.goOn(5 * time.Minute)
	l.check()
	if hot.served == 0 || cold.served == 0 {
		t.Errorf("%v and %v", hot.served, cold.served)
	}
}
