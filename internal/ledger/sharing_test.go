// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"fmt"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/plan"
)

// canonical is 400,000 tokens a minute with a burst of five seconds, so that what exceeds it shows.
const (
	perMinute = 400_000
	burst     = perMinute / 12
)

// market is an account of two tenants and one without a part of its own, with a referee.
type market struct {
	*world
	a, b, c Route
	names   int
	referee *referee
}

func newMarket(tb testing.TB, f fate) *market {
	tb.Helper()
	m := &market{world: newWorld(tb, 1, f)}
	m.jitter = 50 * time.Millisecond
	m.sold(Account{
		Name: "acct", MaxGateways: 40, Limits: []plan.Limit{tokens("input", perMinute, burst), requests("requests", 4000, 4000)},
		Tenants: []Tenant{{Namespace: "a", GuaranteedPercent: 40}, {Namespace: "b", GuaranteedPercent: 40}},
	})
	m.a = m.policy("a", "chat", "acct", 40, lanes(1000))
	m.b = m.policy("b", "chat", "acct", 40, lanes(1000))
	m.c = m.policy("c", "chat", "acct", 40, lanes(1000))
	m.referee = &referee{rate: perMinute / 60.0, burst: burst}
	m.referees = map[string]*referee{"acct:input": m.referee}
	m.lead(1000 * time.Hour)
	return m
}

// start starts a gateway that offers a part of the account's rate in calls of 500 tokens.
func (m *market) start(r Route, part float64) *gateway {
	m.names++
	g := m.join(fmt.Sprint("g", m.names), r)
	g.offer(&load{perSecond: part * perMinute / 60 / 500, tokens: 500})
	return g
}

// spread starts n gateways of the three namespaces that offer 1.5 times the rate together.
func (m *market) spread(n int) []*gateway {
	var out []*gateway
	for i := range n {
		out = append(out, m.start([]Route{m.a, m.b, m.c}[i%3], 1.5/float64(n)))
	}
	return out
}

// scenario is what happens to an account under 1.5 times its load, and what is to be used of it at the least.
type scenario struct {
	fate fate
	do   func(m *market)
	used float64
}

func scenarios() map[string]scenario {
	return map[string]scenario{
		"steady": {lan, func(m *market) { m.spread(6); m.goOn(6 * time.Minute) }, 0.98},
		"a tenth of all messages lost": {fate{lost: 0.1, doubled: 0.1, delay: 100 * time.Millisecond, late: 0.05}, func(m *market) {
			m.spread(6)
			m.goOn(6 * time.Minute)
		}, 0.98},
		"2→10→2": {lan, func(m *market) {
			two := []*gateway{m.start(m.a, 0.75), m.start(m.b, 0.75)}
			m.goOn(2 * time.Minute)
			var eight []*gateway
			for i := range 8 {
				eight = append(eight, m.start([]Route{m.a, m.b, m.c}[i%3], 0.15))
			}
			m.scale(two, 0.15)
			m.goOn(2 * time.Minute)
			for _, g := range eight {
				m.leave(g)
			}
			m.scale(two, 0.75)
			m.goOn(2 * time.Minute)
		}, 0.98},
		"rolling update with surge": {lan, func(m *market) {
			all := m.spread(6)
			m.goOn(time.Minute)
			for range 5 {
				for i, old := range all {
					all[i] = m.start(old.draws[0].route, 0.25)
					m.goOn(8 * time.Second)
					m.leave(old)
					m.goOn(2 * time.Second)
				}
			}
		}, 0.98},
		"a crash every 10 s": {lan, func(m *market) {
			all := m.spread(6)
			for range 36 {
				m.goOn(10 * time.Second)
				m.crash(all[0])
			}
		}, 0.95},
		"one hot gateway among nine": {lan, func(m *market) {
			for i := range 9 {
				m.start([]Route{m.a, m.b, m.c}[i%3], 0.0005)
			}
			m.start(m.c, 1.5)
			m.goOn(6 * time.Minute)
		}, 0.98},
		"coordinator killed for 5 s, each minute": {lan, func(m *market) {
			m.spread(6)
			for range 6 {
				m.goOn(55 * time.Second)
				m.follow(5 * time.Second)
			}
		}, 0.86},
		"leader change, each minute": {lan, func(m *market) {
			m.spread(6)
			for range 6 {
				m.goOn(59 * time.Second)
				m.follow(time.Second)
			}
		}, 0.95},
		"leader relieved in order, each minute": {lan, func(m *market) {
			m.spread(6)
			for range 6 {
				m.goOn(59800 * time.Millisecond)
				m.relieve(200 * time.Millisecond)
			}
		}, 0.98},
		"leader relieved in order, each 5 s": {lan, func(m *market) {
			m.spread(6)
			for range 36 {
				m.goOn(4800 * time.Millisecond)
				m.relieve(200 * time.Millisecond)
			}
		}, 0.9},
		"leader change, each 5 s": {lan, func(m *market) {
			m.spread(6)
			for range 36 {
				m.goOn(4800 * time.Millisecond)
				m.follow(200 * time.Millisecond)
			}
			// Leaders that die within the time of a lease, one after the other, take ever more for outstanding.
		}, 0},
		"edits of policies and accounts, each 10 s": {lan, func(m *market) {
			m.spread(6)
			for i := range 36 {
				m.goOn(10 * time.Second)
				m.policy([]string{"a", "b", "c"}[i%3], "chat", "acct", 40, lanes(1000), tokens(fmt.Sprint("own", i%2), 4*perMinute, perMinute))
			}
		}, 0.95},
		"two tenants borrow and reclaim": {lan, func(m *market) {
			a, b := m.start(m.a, 0), m.start(m.b, 0)
			for range 6 {
				m.scale([]*gateway{a}, 1.5)
				m.goOn(30 * time.Second)
				m.scale([]*gateway{b}, 1.5)
				m.goOn(15 * time.Second)
				m.scale([]*gateway{a}, 0)
				m.goOn(15 * time.Second)
				m.scale([]*gateway{b}, 0)
			}
		}, 0.98},
		"clocks that differ by 0.1 %": {lan, func(m *market) {
			m.drift = func() float64 { return 1e-3 }
			m.follow(time.Second)
			m.spread(6)
			m.goOn(6 * time.Minute)
		}, 0.97},
	}
}

// scale sets the part of the rate that each of the gateways offers.
func (m *market) scale(gateways []*gateway, part float64) {
	for _, g := range gateways {
		g.draws[0].loads[0].perSecond = part * perMinute / 60 / 500
	}
}

// The figures of sharing, as they are to be quoted: by how much any interval's arrivals exceed burst + R·length, relative to a
// minute's amount, and what of the refill is used under 1.5 times the load.
func TestC10SharingFigures(t *testing.T) {
	for name, s := range scenarios() {
		t.Run(name, func(t *testing.T) {
			m := newMarket(t, s.fate)
			m.goOn(10 * time.Second)
			s.do(m)
			from := 40 * time.Second
			excess := m.referee.maxExcess() / perMinute
			used := m.referee.within(from, m.now) / (m.referee.rate * (m.now - from).Seconds())
			t.Logf("maxExcess %+.4f of a minute's amount, used %.4f in %v", excess, used, (m.now - from).Round(time.Second))
			if excess > 0.01 {
				t.Errorf("arrivals exceed burst + R·length by %.4f of a minute's amount", excess)
			}
			if used < s.used || used > 1.05 {
				t.Errorf("%.4f of the rate were used, want at least %v", used, s.used)
			}
			m.check()
		})
	}
}
