// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"slices"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
)

// NotAllowed is the name, after the account's, of the limit that lets nothing pass of a namespace that an account does
// not allow.
const NotAllowed = "not-allowed"

// Watched are the limits by which an account's are learned: one for each budget that providers of the dialect tell in
// their answers. They bind nothing. Answers do not tell the window, and a minute is what providers limit in; of one that
// is longer the amount is too large to bind, and what each gateway is told itself holds.
func Watched(dialectName string) []plan.Limit {
	out := []plan.Limit{watch("requests", plan.Requests)}
	if facts, ok := dialect.ByName(dialectName); ok && facts.TokensApart {
		return append(out, watch("input-tokens", plan.InputTokens), watch("output-tokens", plan.OutputTokens))
	}
	return append(out, watch("tokens", plan.Tokens))
}

func watch(name, budget string) plan.Limit {
	return plan.Limit{Name: name, Budget: budget, Amount: plan.MaxAmount, Burst: plan.MaxAmount, WindowSeconds: 60, Watch: true}
}

// draw adds an account's limits to a route. before is the route in the plan that this one replaces, nil without one.
//
// An account that is gone leaves the route what it had: nobody grants anything of it any more, so the gateways go on with
// their safe share, rather than without a limit. A namespace that is not allowed gets nothing of it.
func draw(route *plan.Route, name string, in Inputs, before *plan.Route) {
	account, found := in.Accounts[name]
	switch {
	case !found && before != nil:
		for _, l := range before.Limits {
			if plan.AccountOf(l.Name) == name && len(route.Limits) < plan.MaxLimits {
				route.Limits = append(route.Limits, l)
				route.Account = before.Account
			}
		}
	case !found:
	case !account.Allowed:
		// The first of all limits that holds a call back is told; this one alone is about the account.
		route.Limits = append([]plan.Limit{{
			Name: name + plan.AccountSeparator + NotAllowed, Budget: plan.Requests, WindowSeconds: 60,
		}}, route.Limits[:min(len(route.Limits), plan.MaxLimits-1)]...)
	default:
		limits := account.routeLimits()
		if len(account.Limits) > 0 { // what is only watched is shared with nobody
			route.Account = name
		}
		route.Limits = append(route.Limits, limits[:min(len(limits), plan.MaxLimits-len(route.Limits))]...)
	}
}

// routeLimits are the account's as they stand in a route.
func (a Account) routeLimits() []plan.Limit {
	limits := a.Limits
	if a.Learned {
		limits = a.learnedOrWatched()
	}
	out := make([]plan.Limit, len(limits))
	for i, l := range limits {
		l.Name, l.Models = a.Name+plan.AccountSeparator+l.Name, slices.Clone(l.Models)
		if !l.Watch {
			l.Account, l.MaxGateways = a.Name, a.MaxGateways
		}
		out[i] = l
	}
	return out
}

// learnedOrWatched goes on watching for what was not learned yet.
func (a Account) learnedOrWatched() []plan.Limit {
	out := Watched(a.Dialect)
	for i := range out {
		for _, learned := range a.Limits {
			if learned.Name == out[i].Name {
				out[i] = learned
			}
		}
	}
	return out
}

// drawAnew gives a compiled policy, whose spec of now has no meaning, the accounts of now: an account's limits are its
// own, whatever becomes of a policy.
func drawAnew(p plan.Policy, in Inputs) plan.Policy {
	p.Routes = slices.Clone(p.Routes)
	for i := range p.Routes {
		route := &p.Routes[i]
		name := accountOf(route)
		if name == "" {
			continue
		}
		before := *route
		route.Account = ""
		route.Limits = slices.DeleteFunc(slices.Clone(route.Limits), func(l plan.Limit) bool { return plan.AccountOf(l.Name) != "" })
		draw(route, name, in, &before)
	}
	return p
}

// accountOf is the account a compiled route refers to, also where it draws nothing.
func accountOf(r *plan.Route) string {
	if r.Account != "" {
		return r.Account
	}
	for i := range r.Limits {
		if name := plan.AccountOf(r.Limits[i].Name); name != "" {
			return name
		}
	}
	return ""
}

func accountRef(p *v1alpha1.Provider) string {
	if p.AccountRef == nil {
		return ""
	}
	return p.AccountRef.Name
}
