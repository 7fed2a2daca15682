// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"time"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/figures"
	"github.com/headgate-dev/headgate/internal/ledger"
	"github.com/headgate-dev/headgate/internal/plan"
)

// limitView is one limit: what was declared and what was seen.
type limitView struct {
	name     string // PROVIDER/LIMIT
	provider string
	observe  bool
	declared plan.Limit
	seen     figures.LimitFigures
	// per and window are the declared window; empty and 0 with InFlight.
	per    v1alpha1.Window
	window time.Duration
	// offered and used are per window; with InFlight, used is the slots in use.
	offered, used float64
	// gateways report, each with a part of the limit.
	gateways int
	// refused: the provider answers noticeably many sends with 429.
	refused bool
	// shared is what the coordinator says of the limit, nil while it says nothing; guaranteed is the percentage of an
	// account's limit that is the namespace's own.
	shared     *ledger.LimitFigures
	guaranteed float64
	// account: the route draws on one, so the provider's figures are those of all its namespaces.
	account bool
}

// laneView is one lane.
type laneView struct {
	name     string // PROVIDER/LANE
	provider string
	declared plan.Lane
	seen     figures.LaneFigures
	// route has the amounts that are in effect.
	route *plan.Route
	// first is its first token limit, which shares are said of; nil without one.
	first *plan.Limit
	// onlyDefault: the provider declares no lane of its own.
	onlyDefault bool
	// shared is what the coordinator says of the lane, nil while it says nothing.
	shared *ledger.LaneFigures
}

// providerView is one provider with its limits and lanes.
type providerView struct {
	name   string
	route  plan.Route
	seen   figures.ProviderFigures
	limits []limitView
	lanes  []laneView
}

type pair struct{ provider, name string }

// lookup joins the compiled policy with the figures, by name; figures of what is no longer in the policy
// are left out.
func lookup(in Inputs) []providerView {
	if in.Compiled == nil {
		return nil
	}
	limits, lanes := map[pair]figures.LimitFigures{}, map[pair]figures.LaneFigures{}
	providers := map[string]figures.ProviderFigures{}
	for _, l := range in.Figures.Limits {
		limits[pair{l.Provider, l.Name}] = l
	}
	for _, l := range in.Figures.Lanes {
		lanes[pair{l.Provider, l.Name}] = l
	}
	for _, p := range in.Figures.Providers {
		providers[p.Name] = p
	}
	views := make([]providerView, 0, len(in.Compiled.Routes))
	for _, r := range in.Compiled.Routes {
		r.Limits = declaredLimits(r)
		v := providerView{name: r.Name, route: r, seen: providers[r.Name]}
		for _, l := range r.Limits {
			seen := viewLimit(in, r, l, limits[pair{r.Name, l.Name}])
			seen.refused = v.refusesOver(strayShare)
			v.limits = append(v.limits, seen)
		}
		effective := v.inEffect()
		for _, l := range r.Lanes {
			v.lanes = append(v.lanes, laneView{
				name: r.Name + "/" + l.Name, provider: r.Name, declared: l, seen: lanes[pair{r.Name, l.Name}],
				route: effective, first: firstTokenLimit(effective), onlyDefault: len(r.Lanes) == 1,
				shared: in.sharedLane(r.Name, l.Name),
			})
		}
		views = append(views, v)
	}
	return views
}

func viewLimit(in Inputs, r plan.Route, l plan.Limit, seen figures.LimitFigures) limitView {
	v := limitView{
		name: r.Name + "/" + l.Name, provider: r.Name, observe: r.Observe, declared: l, seen: seen,
		per: windowName(l.WindowSeconds), window: time.Duration(l.WindowSeconds) * time.Second,
		gateways: len(in.Figures.Gateways), shared: in.sharedLimit(r.Name, l.Name), guaranteed: in.Guaranteed[l.Account], account: r.AccountName() != "",
	}
	if l.Budget == plan.InFlight {
		v.used = seen.InUse
		return v
	}
	v.offered, v.used = seen.Offered.Per(v.window), seen.Used.Per(v.window)
	return v
}

func firstTokenLimit(r *plan.Route) *plan.Limit {
	for i, l := range r.Limits {
		if l.Budget == plan.InputTokens || l.Budget == plan.Tokens {
			return &r.Limits[i]
		}
	}
	return nil
}

func windowName(seconds int64) v1alpha1.Window {
	switch seconds {
	case 1:
		return v1alpha1.WindowSecond
	case 60:
		return v1alpha1.WindowMinute
	case 3600:
		return v1alpha1.WindowHour
	case 86400:
		return v1alpha1.WindowDay
	}
	return ""
}

// nearFraction of a limit's amount makes it Near.
const nearFraction = 0.8

func (v limitView) state() v1alpha1.LimitState {
	switch {
	case v.seen.Binding || v.seen.ProviderBinding:
		return v1alpha1.LimitBinding
	case v.declared.Amount > 0 && v.used >= nearFraction*float64(v.declared.Amount):
		return v1alpha1.LimitNear
	}
	return v1alpha1.LimitFree
}

// total writes the declared amount with its window: 400k/min.
func (v limitView) total() string {
	return string(amount(float64(v.declared.Amount))) + perWindow(v.per)
}

func allLimits(views []providerView) []limitView {
	var out []limitView
	for _, v := range views {
		out = append(out, v.limits...)
	}
	return out
}

func allLanes(views []providerView) []laneView {
	var out []laneView
	for _, v := range views {
		out = append(out, v.lanes...)
	}
	return out
}
