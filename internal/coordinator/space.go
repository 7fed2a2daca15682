// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/coordinator/drawing"
	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/figures"
	"github.com/headgate-dev/headgate/internal/plan"
)

// space is one namespace.
type space struct {
	revision int64
	json     []byte
	plan     *plan.Plan
	// routes are the plan's, by policy and name.
	routes  map[routeKey]*planRoute
	members map[figures.Pod]*member
	// met is when its pods were last looked through.
	met time.Time
}

type routeKey struct{ policy, provider string }

type planRoute struct {
	key    routeKey
	policy *plan.Policy
	route  *plan.Route
	names  drawing.Names
}

// member is a gateway that is or was connected, until its pod goes.
type member struct {
	pod         figures.Pod
	incarnation uint64
	// stream is nil while it is not connected.
	stream     *stream
	joined     time.Time
	lastReport time.Time
	podChecked time.Time
	connects   allowance
	labels     map[string]string
	known      bool // labels are
	draining   bool
	// silent: it was noted that it reports no more.
	silent  bool
	ack     Ack
	version string
	// governed are the routes the plan gives it.
	governed []*planRoute
}

func newMember(pod figures.Pod, now time.Time) *member {
	return &member{pod: pod, joined: now}
}

func (s *Server) space(namespace string) *space {
	sp := s.spaces[namespace]
	if sp == nil {
		sp = &space{
			routes:  map[routeKey]*planRoute{},
			members: map[figures.Pod]*member{},
		}
		s.spaces[namespace] = sp
	}
	return sp
}

// setPlan indexes a new plan.
func (sp *space) setPlan(p *plan.Plan, json []byte) {
	sp.plan, sp.revision, sp.json = p, p.Revision, json
	sp.routes = map[routeKey]*planRoute{}
	for i := range p.Policies {
		policy := &p.Policies[i]
		for j := range policy.Routes {
			r := newPlanRoute(policy, &policy.Routes[j])
			sp.routes[r.key] = r
		}
	}
}

func newPlanRoute(policy *plan.Policy, route *plan.Route) *planRoute {
	r := &planRoute{
		key: routeKey{policy.Name, route.Name}, policy: policy, route: route,
		names: drawing.Names{Limits: map[string]bool{}, Lanes: map[string]bool{plan.DefaultLane: true}},
	}
	for _, l := range route.Limits {
		r.names.Limits[l.Name] = true
	}
	for _, l := range route.Lanes {
		r.names.Lanes[l.Name] = true
	}
	return r
}

// govern finds the routes a member's calls can take: by a route's own name, or by its dialect's.
func (sp *space) govern(m *member) {
	m.governed = nil
	if sp.plan == nil || !m.known {
		return
	}
	found := map[*planRoute]bool{}
	try := func(name string) {
		if policy, route, ok := sp.plan.Select(m.labels, name); ok {
			if r := sp.routes[routeKey{policy.Name, route.Name}]; r != nil && !found[r] {
				found[r] = true
				m.governed = append(m.governed, r)
			}
		}
	}
	names := map[string]bool{}
	for _, f := range facts.All() {
		names[f.Route] = true
	}
	for key := range sp.routes {
		names[key.provider] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		try(name)
	}
}

// sorted returns the members in a fixed order, so that the odd slot stays where it is.
func (sp *space) sorted() []*member {
	return slices.SortedFunc(maps.Values(sp.members), func(a, b *member) int {
		return cmp.Or(cmp.Compare(a.pod.Name, b.pod.Name), cmp.Compare(a.pod.UID, b.pod.UID))
	})
}
