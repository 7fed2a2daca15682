// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"cmp"
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/budget/pool"
)

// Figures takes the figures. It looks at each gateway once.
func (l *Ledger) Figures(now time.Time) Figures {
	l.settle(now)
	out := Figures{
		Routes: make(map[Route]RouteFigures, len(l.routes)), Accounts: make(map[string]AccountFigures, len(l.accounts)),
		Pools: len(l.pools), Refused: l.refused,
	}
	for _, s := range l.pools {
		l.census(s, now).take(&out)
	}
	return out
}

// census is what is looked at for the figures of one pool.
type census struct {
	l      *Ledger
	s      *shared
	now    time.Time
	books  map[string]pool.BudgetFigures
	routes []*routeCensus
	// waiting is by the pool's budgets what was asked for and not granted.
	waiting map[string]float64
	tenants map[string]*tenantCensus
}

// routeCensus is what is looked at of one route.
type routeCensus struct {
	*route
	holders, silent int
	// waiting and used are by limits, bulk by lanes and limits what large calls wait for, and calls by lanes how many.
	waiting, used []float64
	bulk          [][]float64
	calls         []int
}

// tenantCensus is what is looked at of one namespace of an account.
type tenantCensus struct {
	name    string
	part    *tenant
	holders int
	calls   int
	// claims and waiting are by the account's limits.
	claims  []*claimant
	waiting []float64
}

func (l *Ledger) census(s *shared, now time.Time) *census {
	c := &census{l: l, s: s, now: now, books: map[string]pool.BudgetFigures{}, waiting: map[string]float64{}}
	for _, b := range s.pool.Figures(now).Budgets {
		c.books[b.Name] = b
	}
	for _, r := range s.routes {
		c.routes = append(c.routes, c.route(r))
	}
	if s.key.Account != "" {
		c.shareOut()
	}
	return c
}

// route adds up a route's gateways.
func (c *census) route(r *route) *routeCensus {
	out := &routeCensus{route: r, calls: make([]int, len(r.plan.Lanes))}
	n := len(r.plan.Limits)
	out.waiting, out.used = make([]float64, n), make([]float64, n)
	for range r.plan.Lanes {
		out.bulk = append(out.bulk, make([]float64, n))
	}
	for i := range r.used {
		out.used[i] = r.used[i].now(c.now)
	}
	for _, m := range r.members {
		if !m.reports(c.now, c.l.opts.TTL) {
			out.silent++
			continue
		}
		out.holders++
		for i := range m.waits {
			out.wait(&m.waits[i])
		}
	}
	for i, limit := range r.plan.Limits {
		if name, ok := r.budgets[limit.Name]; ok {
			c.waiting[name] += out.waiting[i]
		}
	}
	return out
}

func (r *routeCensus) wait(w *waiting) {
	lane, lacks := laneAt(r.plan.Lanes, w.lane), false
	for k, u := range w.left {
		r.waiting[k] += u
		lacks = lacks || u > 0
		if w.bulk > 0 && lane >= 0 {
			r.bulk[lane][k] += u
		}
	}
	if w.bulk > 0 && lane >= 0 && lacks {
		r.calls[lane]++
	}
}

// shareOut works out what each tenant has of the account's limits.
func (c *census) shareOut() {
	a := c.l.accounts[c.s.key.Account]
	if a == nil {
		return
	}
	c.tenants = map[string]*tenantCensus{}
	parts := tenantsOf(a, c.s.routes)
	for _, r := range c.routes {
		t := c.tenants[r.id.Namespace]
		if t == nil {
			t = &tenantCensus{name: r.id.Namespace, part: parts[r.id.Namespace], waiting: make([]float64, len(a.Limits))}
			for i := range a.Limits {
				t.claims = append(t.claims, t.part.claim(c.books[a.Limits[i].Name].Rate))
			}
			c.tenants[r.id.Namespace] = t
		}
		t.holders += r.holders
		for _, n := range r.calls {
			t.calls += n
		}
		for i := range a.Limits {
			if k := place(r.plan.Limits, r.limits[a.Limits[i].Name]); k >= 0 {
				t.claims[i].used += r.used[k]
				t.waiting[i] += r.waiting[k]
				t.claims[i].waits = t.waiting[i] > 0
			}
		}
	}
	for i := range a.Limits {
		var all []*claimant
		for _, t := range c.tenants {
			all = append(all, t.claims[i])
		}
		divideFairly(all, c.books[a.Limits[i].Name].Rate)
	}
}

// claim is a tenant's on a limit of a rate.
func (t *tenant) claim(rate float64) *claimant {
	out := &claimant{guaranteed: t.guaranteed * rate, lendable: t.lendable, most: rate, weight: t.weight}
	if t.borrowing >= 0 {
		out.most = min(rate, (t.guaranteed+t.borrowing)*rate)
	}
	return out
}

// take writes what was found.
func (c *census) take(out *Figures) {
	for _, r := range c.routes {
		f := RouteFigures{Account: c.s.key.Account, Holders: r.holders, Silent: r.silent}
		for k := range r.plan.Limits {
			f.Limits = append(f.Limits, c.limit(r, k))
		}
		for i := range r.plan.Lanes {
			f.Lanes = append(f.Lanes, c.lane(r, &f, i))
		}
		out.Routes[r.id] = f
		out.Holders += r.holders
	}
	if a := c.l.accounts[c.s.key.Account]; a != nil && c.s.key.Account != "" {
		out.Accounts[a.Name] = c.account(a)
	}
}

const minute = 60

// limit is a route's of one limit.
func (c *census) limit(r *routeCensus, k int) LimitFigures {
	p := &r.plan.Limits[k]
	b := c.books[r.budgets[p.Name]]
	f := LimitFigures{Name: p.Name, Account: p.Account, Waiting: r.waiting[k], Used: r.used[k] * minute}
	f.Guaranteed = b.Rate * minute
	f.Share = f.Guaranteed
	if t := c.tenants[r.id.Namespace]; t != nil && p.Account != "" {
		for i, l := range c.l.accounts[c.s.key.Account].Limits {
			if l.Name == b.Name {
				claim := t.claims[i]
				f.Guaranteed, f.Share = claim.guaranteed*minute, claim.share*minute
				// The tenant's other routes have a part of it too.
				part := 1.0
				if claim.used > 0 {
					part = r.used[k] / claim.used
				}
				f.Borrowed, f.Lent = claim.borrowed*part*minute, claim.lent*minute
			}
		}
	}
	if b.Rate > 0 {
		f.Level = max(0, b.Level) * min(1, f.Guaranteed/minute/b.Rate)
	}
	return f
}

// account is an account's figures, over all namespaces.
func (c *census) account(a *Account) AccountFigures {
	out := AccountFigures{Left: c.s.left, Unbounded: c.s.unbounded}
	used := make([]float64, len(a.Limits))
	tenants := make([]TenantFigures, 0, len(c.tenants))
	for _, t := range c.tenants {
		for i := range used {
			used[i] += t.claims[i].used
		}
		tenants = append(tenants, t.figures(a, c))
		out.Holders += t.holders
	}
	for _, r := range c.routes {
		out.Silent += r.silent
	}
	for i, l := range a.Limits {
		b := c.books[l.Name]
		f := AccountLimitFigures{
			Name: l.Name, Rate: b.Rate * minute, Level: b.Level, Held: b.Held, Unknown: b.Unknown,
			Capacity: Budget(l, a.MaxGateways).Capacity, Used: used[i] * minute, Waiting: c.waiting[l.Name],
		}
		out.Limits = append(out.Limits, f)
	}
	slices.SortFunc(tenants, func(a, b TenantFigures) int {
		return cmp.Or(cmp.Compare(b.part, a.part), cmp.Compare(b.Waiting, a.Waiting), cmp.Compare(a.Namespace, b.Namespace))
	})
	out.Others = max(0, len(tenants)-TopTenants)
	out.Tenants = tenants[:min(len(tenants), TopTenants)]
	return out
}

// figures are a tenant's, on the limit of which it uses the largest part, or waits for.
func (t *tenantCensus) figures(a *Account, c *census) TenantFigures {
	out := TenantFigures{Namespace: t.name, Holders: t.holders, WaitingCalls: t.calls, part: -1}
	for i, l := range a.Limits {
		b := c.books[l.Name]
		if l.Budget == "" || Budget(l, 1).Kind == budget.Slots || b.Rate <= 0 {
			continue
		}
		claim := t.claims[i]
		part := claim.used / b.Rate
		if claim.waits {
			part++
		}
		if part > out.part {
			out.part, out.Limit, out.Waiting = part, l.Name, t.waiting[i]
			out.Guaranteed, out.Share, out.Used = claim.guaranteed*minute, claim.share*minute, claim.used*minute
			out.Borrowed, out.Lent = claim.borrowed*minute, claim.lent*minute
		}
	}
	if out.part > 1 {
		// Waiting does not count among those that use most.
		out.part--
	}
	return out
}
