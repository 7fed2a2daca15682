// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package redisstore

import (
	"fmt"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/budgetstore"
)

// cluster is an installation: a drawer, its pool, and one gateway of each of its tenants.
type cluster struct {
	*drawer
	pool     *pool.Pool
	gateways []*gateway
}

// gateway asks for so much in a second, and spends what it gets.
type gateway struct {
	*pool.Holder
	tenant  string
	asks    float64
	waits   float64
	reports time.Time
}

// tenants are an account's, with what each is to have.
func tenants(rate, capacity float64) pool.Config {
	return pool.Config{
		MaxHolders: 100,
		Budgets:    []pool.Budget{{Name: "tokens", Rate: rate, Capacity: capacity, SmallCall: 2, External: true}},
		Lanes: []budget.Lane{
			{Name: "x", Group: "x", Share: 0.6, Hold: -1},
			{Name: "y", Group: "y", Share: 0.1, Hold: -1},
			{Name: "z", Group: "z", Hold: -1},
			{Name: "/", Hold: -1},
		},
		Groups: []budget.Group{{Name: "x", Weight: 1}, {Name: "y", Weight: 1}, {Name: "z", Weight: 1}},
		// y borrows at most a fifth.
		Shadows: []pool.Shadow{{Name: "tokens@y", Of: "tokens", External: true, Lanes: []string{"y"}, Rate: 0.3 * rate, Capacity: 0.3 * capacity}},
	}
}

func (w *world) cluster(name string, cfg pool.Config, asks map[string]float64) *cluster {
	now := w.join(name).at(w.now)
	c := &cluster{drawer: w.drawers[len(w.drawers)-1], pool: pool.New(cfg, pool.Leader{Epoch: 1, First: true}, now)}
	for tenant, each := range asks {
		rate, burst := pool.Safe(cfg.Budgets[0], cfg.MaxHolders)
		g := &gateway{tenant: tenant, asks: each, Holder: pool.NewHolder(pool.HolderConfig{
			Name: name + tenant, Incarnation: 1, Budgets: []pool.HolderBudget{{Name: "tokens", SafeRate: rate, SafeBurst: burst}},
		}, now)}
		c.pool.Join(name+tenant, pool.Use{Budgets: []string{"tokens"}, Lanes: []string{tenant}}, now)
		c.gateways = append(c.gateways, g)
	}
	return c
}

// live has gateways spend, report, and hear.
func (c *cluster) live(t *testing.T, now time.Time, dt float64) map[string]float64 {
	t.Helper()
	spent := map[string]float64{}
	for _, g := range c.gateways {
		g.waits = min(g.waits+g.asks*dt, 5*g.asks)
		if some := min(g.waits, g.Balance("tokens", now)); some > 0 {
			if _, ok := g.Take([]pool.Amount{{Budget: "tokens", Units: some}}, now); ok {
				g.waits -= some
				spent[g.tenant] += some
			}
		}
		if now.Before(g.reports) {
			continue
		}
		g.reports = now.Add(100 * time.Millisecond)
		r := g.Report([]pool.Demand{{Lane: g.tenant, Small: []pool.Amount{{Budget: "tokens", Units: g.waits + 2*g.asks}}}}, now)
		if err := c.pool.Report(&r, now); err != nil {
			t.Fatal(err)
		}
	}
	c.pool.Advance(now)
	if c.pool.Stale() {
		c.pool.Published(c.pool.State(now))
		c.pool.Advance(now)
	}
	for _, key := range c.pool.Changed(nil) {
		if grant, ok := c.pool.Grant(key, now); ok {
			for _, g := range c.gateways {
				g.Receive(&grant, now) // another's is none of its
			}
		}
	}
	return spent
}

// budgetsOf are what a cluster draws on.
func budgetsOf(cfg pool.Config) []pool.Budget {
	out := cfg.Budgets
	for _, s := range cfg.Shadows {
		out = append(out, pool.Budget{Name: s.Name, Rate: s.Rate, Capacity: s.Capacity, SmallCall: 2, External: true})
	}
	return out
}

// TestTenantsOfTwoClusters: each has its guarantee and its part of the rest over both, whichever cluster it is in, and none
// exceeds its borrowing limit in any interval.
func TestTenantsOfTwoClusters(t *testing.T) {
	s := open(t)
	const rate, capacity = 1000.0, 3000.0
	for name, c := range map[string]struct {
		asks []map[string]float64
		want map[string]float64
	}{
		"x here, y and z there": {
			[]map[string]float64{{"x": 1500}, {"y": 1500, "z": 1500}}, map[string]float64{"x": 700, "y": 200, "z": 100},
		},
		"x in both": {
			[]map[string]float64{{"x": 1500, "z": 1500}, {"x": 1500, "y": 1500}}, map[string]float64{"x": 700, "y": 200, "z": 100},
		},
		"y alone, in both": {[]map[string]float64{{"y": 1500}, {"y": 1500}}, map[string]float64{"y": 300}},
		"y is lent what x does not need": {
			[]map[string]float64{{"x": 100, "y": 1500}, {"y": 1500, "z": 1500}}, map[string]float64{"x": 100, "y": 300, "z": 600},
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := tenants(rate, capacity)
			w := newWorld(t, s, digest(name), budgetsOf(cfg)...)
			var clusters []*cluster
			for i, asks := range c.asks {
				clusters = append(clusters, w.cluster(fmt.Sprint("cluster-", i), cfg, asks))
			}
			all, y := meter{}, meter{}
			had := map[string]float64{}
			for w.now < 40*time.Second {
				w.now += moment
				w.tick()
				all.pass(rate * moment.Seconds())
				y.pass(0.3 * rate * moment.Seconds())
				for _, c := range clusters {
					at := c.at(w.now)
					account := budgetstore.Account{Name: w.account, Pool: c.pool, Budgets: w.budgets}
					for _, d := range c.Draws([]budgetstore.Account{account}, 10, at) {
						c.Receive(d, s.Draw(t.Context(), []*budgetstore.Request{d.Request})[0], at)
					}
					for tenant, units := range c.live(t, at, moment.Seconds()) {
						all.spend(units)
						if tenant == "y" {
							y.spend(units)
						}
						if w.now > 20*time.Second {
							had[tenant] += units / 20
						}
					}
				}
			}
			t.Logf("a second: %v; %.0f of %v above the rate, y %.0f of %v", had, all.worst, capacity, y.worst, 0.3*capacity)
			for tenant, want := range c.want {
				if had[tenant] < 0.93*want || had[tenant] > 1.07*want {
					t.Errorf("%s had %.0f a second, its part is %v", tenant, had[tenant], want)
				}
			}
			if all.worst > capacity+1e-6 || y.worst > 0.3*capacity+1e-6 {
				t.Errorf("an interval saw %v above the rate, of y %v", all.worst, y.worst)
			}
		})
	}
}
