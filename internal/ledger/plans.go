// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/plan"
)

// SetPlan puts a namespace's plan in force; nil drops it. No edit refills a limit. The plan is kept, not copied.
func (l *Ledger) SetPlan(namespace string, p *plan.Plan, now time.Time) {
	routes := l.spaces[namespace]
	if routes == nil {
		if p == nil || len(l.spaces) >= MaxNamespaces {
			return
		}
		routes = map[Route]*route{}
		l.spaces[namespace] = routes
	}
	stays := map[Route]bool{}
	if p == nil {
		delete(l.spaces, namespace)
		p = &plan.Plan{}
	}
	for i := range p.Policies {
		for j := range p.Policies[i].Routes {
			policy, r := &p.Policies[i], &p.Policies[i].Routes[j]
			id := Route{namespace, policy.Name, r.Name}
			stays[id] = l.setRoute(id, routes, policy.MaxGateways, r, now)
		}
	}
	for id, r := range routes {
		if !stays[id] {
			l.undraw(r)
			delete(routes, id)
			delete(l.routes, id)
		}
	}
}

// setRoute is false if there is no room.
func (l *Ledger) setRoute(id Route, routes map[Route]*route, maxGateways int32, p *plan.Route, now time.Time) bool {
	r := l.routes[id]
	if r == nil {
		if len(l.routes) >= MaxRoutes {
			return false
		}
		r = &route{id: id, members: map[string]*member{}}
		l.routes[id], routes[id] = r, r
	}
	if !r.follow(maxGateways, p) {
		return true
	}
	if key := keyOf(id, p); key != r.key {
		l.undraw(r)
		l.move(r, key, now)
	}
	if l.drawing[r.key] == nil {
		l.drawing[r.key] = map[Route]*route{}
	}
	l.drawing[r.key][id] = r
	l.dirty[r.key] = true
	return true
}

// move has a route draw on another pool. Its gateways have other names there than they had before, should they have drawn on
// it already: what they say now does not go on from what they said then.
func (l *Ledger) move(r *route, key Key, now time.Time) {
	from := r.pool
	r.pool, r.key = nil, key
	l.numbers++
	r.number = l.numbers
	r.moves++
	for _, m := range r.members {
		if from != nil {
			from.leave(m, now)
		}
		m.name = r.nameOf(m.holder)
	}
}

// undraw takes a route from the pool it was to draw on.
func (l *Ledger) undraw(r *route) {
	if l.drawing[r.key] == nil {
		return
	}
	delete(l.drawing[r.key], r.id)
	if len(l.drawing[r.key]) == 0 {
		delete(l.drawing, r.key)
	}
	l.dirty[r.key] = true
}

// SetAccounts puts all accounts in force. What they hold is kept, not copied.
func (l *Ledger) SetAccounts(accounts []Account, _ time.Time) {
	were := l.accounts
	l.accounts = make(map[string]*Account, len(accounts))
	for i := range accounts[:min(len(accounts), MaxAccounts)] {
		a := &accounts[i]
		if a.Name == "" {
			continue
		}
		l.accounts[a.Name] = a
		if old := were[a.Name]; old == nil || !reflect.DeepEqual(old, a) {
			l.dirty[Key{Account: a.Name}] = true
		}
	}
	for name := range were {
		if l.accounts[name] == nil {
			l.dirty[Key{Account: name}] = true
		}
	}
}

// routesOf are those that are to draw on a pool, in order: what pools have does not depend on the order of edits.
func (l *Ledger) routesOf(key Key) []*route {
	return slices.SortedFunc(maps.Values(l.drawing[key]), func(a, b *route) int { return a.id.compare(b.id) })
}
