// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/wire"
)

// Policy returns a policy's figures; false when no gateway has ever reported for it.
func (s *Store) Policy(namespace, name string, now time.Time) (PolicyFigures, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ns := s.namespaces[namespace]
	if ns == nil || ns.policies[name] == nil {
		return PolicyFigures{}, false
	}
	r := reader{now: now, ns: ns, policy: name, agg: ns.policies[name]}
	return r.read(), true
}

// reader puts one policy's figures together.
type reader struct {
	now    time.Time
	ns     *namespace
	policy string
	agg    *aggregate
	// live are the gateways whose levels count, by name.
	live []*gateway
}

func (r *reader) read() PolicyFigures {
	r.findLive()
	f := PolicyFigures{
		At:       r.now,
		Over:     r.over(),
		Gateways: r.gateways(),
	}
	for _, name := range slices.Sorted(maps.Keys(r.agg.providers)) {
		p := r.agg.providers[name]
		routes := r.routes(name)
		if len(routes) == 0 && r.now.Sub(p.touched) > Window {
			continue
		}
		f.Providers = append(f.Providers, r.provider(name, p, routes))
		f.Limits = append(f.Limits, r.limits(name, p, routes)...)
		f.Lanes = append(f.Lanes, r.lanes(name, p, routes)...)
	}
	return f
}

// over is the time that counts cover: since the first traffic, or, where there was none, since somebody
// watched.
func (r *reader) over() time.Duration {
	if span := r.agg.activity.span(r.now); span > 0 {
		return span
	}
	return max(min(r.now.Sub(r.agg.since), Window), 0)
}

func (r *reader) findLive() {
	for _, gw := range r.ns.gateways {
		if !gw.gone && r.now.Sub(gw.heard) <= stale {
			r.live = append(r.live, gw)
		}
	}
	slices.SortFunc(r.live, func(a, b *gateway) int {
		return cmp.Or(cmp.Compare(a.pod.Name, b.pod.Name), cmp.Compare(a.pod.UID, b.pod.UID))
	})
}

// routes returns the policy's provider in every live gateway that runs it now, by name of pod.
func (r *reader) routes(provider string) []*route {
	var routes []*route
	for _, gw := range r.live {
		run := gw.newest()
		if rt := run.routes[routeKey{r.policy, provider}]; rt != nil && rt.sequence == run.sequence {
			routes = append(routes, rt)
		}
	}
	return routes
}

func (r *reader) gateways() []GatewayFigures {
	var list []GatewayFigures
	for _, gw := range r.live {
		run := gw.newest()
		f := GatewayFigures{
			Pod: gw.pod.Name, UID: gw.pod.UID,
			Since: run.started, LastReport: gw.heard, LastCall: run.lastCall, Draining: run.draining,
		}
		found := false
		for key, rt := range run.routes {
			if key.policy != r.policy || rt.sequence != run.sequence {
				continue
			}
			if !found || rt.generation < f.Generation {
				f.Generation = rt.generation
			}
			found = true
			if rt.lastCall.After(f.LastPolicyCall) {
				f.LastPolicyCall = rt.lastCall
			}
		}
		if found {
			list = append(list, f)
		}
	}
	return list
}

// stateRank orders the states of providers; of several gateways' the worst counts.
var stateRank = map[string]int{"Idle": 1, "Healthy": 2, "Throttling": 3, "Overloaded": 4, "QuotaExhausted": 5}

func (r *reader) provider(name string, p *provider, routes []*route) ProviderFigures {
	c := func(i int) int64 { return p.counts[i].count(r.now) }
	f := ProviderFigures{
		Name: name, State: "Idle",
		Calls: c(calls), Sends: c(sends), TooManyRequests: c(tooMany), Overloads: c(overloads),
		Unguided: c(unguided), TransientErrors: c(transient), PermanentErrors: c(permanent),
		QuotaExhausted: c(quota), StackedRetries: c(stacked), TooLarge: c(tooLarge),
		EstimatedSettlements: c(estimated), TruncatedStreams: c(truncated),
		LargestTooLarge: int64(p.largest.max(r.now)), FailedOver: c(failedOver), Deferred: c(deferred),
	}
	most := int64(0)
	for i, sdk := range wire.SDKs {
		if n := c(stackedBy + i); n > most {
			most, f.StackedMostlyBy = n, sdk
		}
	}
	for _, rt := range routes {
		f.DeferredWaiting += int64(rt.waiting)
		f.DeadLetters += int64(rt.dead)
		if rt.lastCall.After(f.LastCall) {
			f.LastCall = rt.lastCall
		}
		switch rank := stateRank[rt.state]; {
		case rank > stateRank[f.State]:
			f.State, f.StateMessage, f.StateCode, f.QuotaResetAt = rt.state, rt.message, rt.code, rt.quotaReset
		case rank == stateRank[f.State]:
			if f.StateMessage == "" && f.StateCode == "" {
				f.StateMessage, f.StateCode = rt.message, rt.code
			}
			if f.QuotaResetAt.IsZero() {
				f.QuotaResetAt = rt.quotaReset
			}
		}
	}
	return f
}

// removed says that an edit took away what no gateway reports now: at once when gateways run the route
// without it, within the window when none runs the route.
func (r *reader) removed(touched time.Time, routes []*route) bool {
	if len(routes) > 0 {
		return r.now.Sub(touched) > stale
	}
	return r.now.Sub(touched) > Window
}
