// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// mostUsers is how many pods a limit names.
const mostUsers = 3

func (r *reader) limits(provider string, p *provider, routes []*route) []LimitFigures {
	var list []LimitFigures
	span := r.agg.activity.span(r.now)
	for _, name := range slices.Sorted(maps.Keys(p.limits)) {
		agg := p.limits[name]
		f := LimitFigures{
			Provider: provider, Name: name,
			Offered: agg.offered.read(r.agg.since, r.now, span),
			Used:    agg.used.read(r.agg.since, r.now, span),
		}
		if !f.levels(name, routes, r.now) && r.removed(agg.touched, routes) {
			continue // an edit removed it
		}
		f.UsedBy = r.users(limitKey{routeKey{r.policy, provider}, name}, f.Used.recent)
		list = append(list, f)
	}
	return list
}

// levels adds the levels of the gateways up, and says whether any reports the limit now.
func (f *LimitFigures) levels(name string, routes []*route, now time.Time) bool {
	found := false
	var known time.Time
	var used float64
	for _, rt := range routes {
		s := rt.limits[name]
		if s == nil || s.sequence != rt.sequence {
			continue
		}
		found = true
		f.Remaining += s.level
		f.Capacity += s.capacity
		f.HeldForLanes += s.held
		f.InUse += s.reserved
		f.Binding = f.Binding || s.binding
		f.ProviderBinding = f.ProviderBinding || s.providerBinding
		f.OutsidersPerSecond = max(f.OutsidersPerSecond, s.outsiders)
		used += s.capacity * s.effective
		f.provider(s, rt.lastSend, &known)
		if s.said > 0 && now.Sub(rt.lastSend) <= Window {
			f.ProviderSaid += s.said
			if f.ProviderLeast == 0 || s.ofProvider < f.ProviderLeast {
				f.ProviderLeast = s.ofProvider
			}
		}
	}
	// Each gateway cuts its own part.
	f.Effective = 1
	if f.Capacity > 0 {
		f.Effective = min(used/f.Capacity, 1)
	}
	return found
}

// provider takes the provider's word from the gateway that sent last: what others heard is older.
func (f *LimitFigures) provider(s *limitSeen, sent time.Time, known *time.Time) {
	switch {
	case !s.known || f.ProviderKnown && sent.Before(*known):
		return
	case f.ProviderKnown && sent.Equal(*known):
		f.ProviderRemaining = min(f.ProviderRemaining, s.atProvider)
		return
	}
	f.ProviderKnown, *known = true, sent
	f.ProviderRemaining, f.ProviderLimit = s.atProvider, s.ofProvider
}

// users are the pods that used most of a limit, gone ones included.
func (r *reader) users(key limitKey, all float64) []PodShare {
	if all <= 0 {
		return nil
	}
	var list []PodShare
	for pod, gw := range r.ns.gateways {
		if used := gw.used[key]; used != nil {
			if amount := used.sum(r.now); amount > 0 {
				list = append(list, PodShare{Pod: pod.Name, Fraction: min(amount/all, 1)})
			}
		}
	}
	slices.SortFunc(list, func(a, b PodShare) int {
		return cmp.Or(cmp.Compare(b.Fraction, a.Fraction), cmp.Compare(a.Pod, b.Pod))
	})
	return bounded(list, mostUsers)
}
