// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"time"

	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/plan"
)

// route is one of a plan's, and the gateways it governs.
type route struct {
	id Route
	// number is short and never given twice: names in a shared pool begin with it.
	number uint64
	// moves is how often it came to another pool.
	moves int
	// maxGateways and plan are the policy's.
	maxGateways int32
	plan        *plan.Route
	key         Key
	// pool is what it draws on, nil if on nothing; term is the epoch that its gateways are told.
	pool *shared
	term uint64
	names
	members map[string]*member
	// used is by limit what was spent of late, largest by lane what its largest call of late cost.
	used    []average
	largest []peak
}

// compare orders routes.
func (r Route) compare(s Route) int {
	return cmp.Or(cmp.Compare(r.Namespace, s.Namespace), cmp.Compare(r.Policy, s.Policy), cmp.Compare(r.Provider, s.Provider))
}

func (k Key) compare(j Key) int {
	return cmp.Or(cmp.Compare(k.Account, j.Account), k.Route.compare(j.Route))
}

// keyOf is the pool that a route is to draw on.
func keyOf(id Route, r *plan.Route) Key {
	if r.Account != "" {
		return Key{Account: r.Account}
	}
	return Key{Route: id}
}

// follow takes over what a plan says of the route; false if that changes nothing here.
func (r *route) follow(maxGateways int32, p *plan.Route) bool {
	if r.plan != nil && r.maxGateways == maxGateways && r.plan.Account == p.Account && r.plan.Outage == p.Outage &&
		reflect.DeepEqual(r.plan.Limits, p.Limits) && reflect.DeepEqual(r.plan.Lanes, p.Lanes) {
		r.plan = p
		return false
	}
	used := make([]average, len(p.Limits))
	if r.plan != nil {
		for i := range r.plan.Limits {
			if j := place(p.Limits, r.plan.Limits[i].Name); j >= 0 {
				used[j] = r.used[i]
			}
		}
	}
	r.maxGateways, r.plan, r.used, r.largest = maxGateways, p, used, make([]peak, len(p.Lanes))
	for _, m := range r.members {
		m.forgetCounts()
	}
	return true
}

func place(limits []plan.Limit, name string) int {
	for i := range limits {
		if limits[i].Name == name {
			return i
		}
	}
	return -1
}

// names translate between a plan and a pool.
type names struct {
	budgets, limits map[string]string
	lanes, laneOf   map[string]string
	use             pool.Use
}

// member is a gateway that a route governs.
type member struct {
	route *route
	// holder is what the owner calls it, name what the pool does.
	holder, name string
	spending
}

// maxPoolName is what a pool takes for a holder's name.
const maxPoolName = 256

// nameOf is a holder's name in a pool that routes share. It is the same whenever it is asked for, so that the pool knows
// late reports of those that ended, and at other leaders, unless the route moved at one of them.
func (r *route) nameOf(holder string) string {
	route := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %d", r.id.Namespace, r.id.Policy, r.id.Provider, r.moves))
	name := hex.EncodeToString(route[:8]) + "/" + holder
	if len(name) <= maxPoolName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return name[:maxPoolName-2*len(sum)] + hex.EncodeToString(sum[:])
}

// maxMembers bounds a route's gateways: no pool has room for more.
const maxMembers = 16384

// Expect says that a gateway exists which a route governs: until it is heard of, its safe share is left to it. A route that
// is not in the plan is ignored, and expectations end with their route: say it again after each SetPlan.
func (l *Ledger) Expect(r Route, holder string, now time.Time) {
	rt := l.routes[r]
	if rt == nil || holder == "" || len(holder) > MaxHolder || rt.members[holder] != nil || len(rt.members) >= maxMembers {
		return
	}
	m := &member{route: rt, holder: holder, name: rt.nameOf(holder)}
	rt.members[holder] = m
	if rt.pool != nil && !l.dirty[rt.key] {
		rt.pool.join(m, now)
		l.touch(rt.pool)
	}
}

// Forget says that the gateway is deleted, or not governed by the route any longer.
func (l *Ledger) Forget(r Route, holder string, now time.Time) {
	rt := l.routes[r]
	if rt == nil || rt.members[holder] == nil {
		return
	}
	m := rt.members[holder]
	delete(rt.members, holder)
	if rt.pool != nil {
		rt.pool.leave(m, now)
		l.touch(rt.pool)
	}
}
