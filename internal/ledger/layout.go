// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"strconv"
	"strings"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/plan"
)

// Bounds of one pool, which are the pools' own.
const (
	maxBudgets = 512
	maxLanes   = 512
	maxShadows = 1024
)

// layout is what a pool is to be.
type layout struct {
	cfg    pool.Config
	origin []origin
	names  map[*route]names
	// external has limits draw on a store.
	external bool
	// left counts routes for which there is no room, unbounded tenants whose borrowing limit has none.
	left, unbounded int
}

// origin says which limit a budget is of, over all pools: what is remembered goes by it.
type origin struct {
	account string
	route   Route
	limit   string
}

// layout works out what a pool is to be; nil if nothing is to be shared.
func (l *Ledger) layout(key Key) *layout {
	routes := l.routesOf(key)
	if len(routes) == 0 {
		return nil
	}
	out := &layout{names: map[*route]names{}, external: l.opts.External}
	out.cfg.Interval, out.cfg.TTL, out.cfg.Drain = l.opts.Interval, l.opts.TTL, l.opts.Drain
	if key.Account == "" {
		out.alone(routes[0])
	} else if a := l.accounts[key.Account]; a != nil {
		out.account(a, routes)
	}
	if len(out.cfg.Budgets) == 0 || len(out.names) == 0 {
		return nil
	}
	if out.external {
		for i := range out.cfg.Budgets {
			out.cfg.Budgets[i].External = true
		}
		for i := range out.cfg.Shadows {
			out.cfg.Shadows[i].External = true
		}
		for i := range out.cfg.Lanes {
			// What idle lanes kept here others of the store's could not have; the store is soon asked for more.
			out.cfg.Lanes[i].Hold = -1
		}
	}
	return out
}

// alone is the pool of a route without account: by the plan's names.
func (o *layout) alone(r *route) {
	o.cfg.MaxHolders = int(max(r.maxGateways, 1))
	n := newNames(r)
	for _, limit := range r.plan.Limits {
		if limit.Account != "" || n.budgets[limit.Name] != "" {
			continue
		}
		o.add(Budget(limit, r.maxGateways), origin{route: r.id, limit: limit.Name})
		n.budget(limit.Name, limit.Name)
	}
	for _, lane := range r.plan.Lanes {
		o.cfg.Lanes = append(o.cfg.Lanes, Lane(lane))
		n.lane(lane.Name, lane.Name)
	}
	o.names[r] = n
}

func (o *layout) add(b pool.Budget, from origin) {
	b.Outstanding = b.Capacity / 2
	o.cfg.Budgets = append(o.cfg.Budgets, b)
	o.origin = append(o.origin, from)
}

// account is the pool of an account: its limits, and the own ones of all that draw on it.
func (o *layout) account(a *Account, routes []*route) {
	o.cfg.MaxHolders = int(max(a.MaxGateways, 1))
	known := map[string]bool{}
	for _, limit := range a.Limits[:min(len(a.Limits), plan.MaxLimits)] {
		if known[limit.Name] {
			continue
		}
		known[limit.Name] = true
		o.add(Budget(limit, a.MaxGateways), origin{account: a.Name, limit: limit.Name})
	}
	own := len(o.origin)
	tenants := tenantsOf(a, routes)
	for _, guaranteed := range []bool{true, false} {
		for _, r := range routes {
			if t := tenants[r.id.Namespace]; (t.guaranteed > 0) == guaranteed {
				o.draw(a, r, t, known)
			}
		}
	}
	// Whoever names a lane that is not there has no share, and comes after the others.
	o.cfg.Lanes = append(o.cfg.Lanes, budget.Lane{Name: "/", Hold: -1})
	o.divide(tenants, own)
}

// draw adds a route's lanes and own limits, if there is room.
func (o *layout) draw(a *Account, r *route, t *tenant, known map[string]bool) {
	own := 0
	for _, limit := range r.plan.Limits {
		if limit.Account == "" {
			own++
		}
	}
	if len(o.cfg.Lanes)+len(r.plan.Lanes) >= maxLanes || len(o.cfg.Budgets)+own > maxBudgets {
		o.left++
		return
	}
	n, shares := newNames(r), make([]pool.LaneShare, len(r.plan.Lanes))
	n.use.Outage = outage(r.plan.Outage, a.Outage)
	prefix := strconv.FormatUint(r.number, 36) + "/"
	parts := parts(r.plan.Lanes)
	for i, p := range r.plan.Lanes {
		lane := Lane(p)
		shares[i] = pool.LaneShare{Lane: prefix + lane.Name, Share: lane.Share}
		lane.Name, lane.Group = prefix+lane.Name, r.id.Namespace
		lane.Share = t.guaranteed / float64(t.routes) * parts[i]
		o.cfg.Lanes = append(o.cfg.Lanes, lane)
		t.lanes = append(t.lanes, lane.Name)
		n.lane(p.Name, lane.Name)
	}
	for _, limit := range r.plan.Limits {
		name := limit.Name
		if limit.Account == "" {
			b := Budget(limit, r.maxGateways)
			b.Name, b.Lanes = ownName(r.id, limit.Name), shares
			o.add(b, origin{route: r.id, limit: limit.Name})
			n.budget(limit.Name, b.Name)
		} else if name = strings.TrimPrefix(name, limit.Account+":"); limit.Account == a.Name && known[name] {
			n.budget(limit.Name, name)
		}
	}
	o.names[r] = n
}

// ownName is that of a route's own limit in the pool of an account.
func ownName(r Route, limit string) string {
	return r.Namespace + "/" + r.Policy + "/" + r.Provider + ":" + limit
}

// parts divide what a tenant has among lanes: by their shares, all of it.
func parts(lanes []plan.Lane) []float64 {
	out, sum := make([]float64, len(lanes)), 0.0
	for i := range lanes {
		out[i] = float64(lanes[i].SharePermille)
		sum += out[i]
	}
	for i := range out {
		if sum > 0 {
			out[i] /= sum
		} else {
			out[i] = 1 / float64(len(out))
		}
	}
	return out
}

func newNames(r *route) names {
	n := names{budgets: map[string]string{}, limits: map[string]string{}, lanes: map[string]string{}, laneOf: map[string]string{}}
	n.use.Outage = outage(r.plan.Outage, "")
	return n
}

func (n *names) budget(inPlan, inPool string) {
	n.budgets[inPlan], n.limits[inPool] = inPool, inPlan
	n.use.Budgets = append(n.use.Budgets, inPool)
}

func (n *names) lane(inPlan, inPool string) {
	n.lanes[inPlan], n.laneOf[inPool] = inPool, inPlan
	n.use.Lanes = append(n.use.Lanes, inPool)
}

// outage is a mode by its name: the route's, else the account's.
func outage(own, account string) pool.Outage {
	if own == "" {
		own = account
	}
	switch own {
	case plan.LastGrant:
		return pool.OutageLastGrant
	case plan.Open:
		return pool.OutageOpen
	}
	return pool.OutageSafe
}
