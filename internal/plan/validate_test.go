// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"
	"testing"
)

func TestValidateAcceptsAPlan(t *testing.T) {
	p := testPlan()
	if err := p.Validate(); err != nil {
		t.Error(err)
	}
	empty := Plan{Version: Version, Revision: 1, Namespace: "team"}
	if err := empty.Validate(); err != nil {
		t.Errorf("a plan without policies: %v", err)
	}
}

func TestValidateNamesWhatIsWrong(t *testing.T) {
	route := func(change func(*Route)) func(*Plan) {
		return func(p *Plan) { change(&p.Policies[0].Routes[0]) }
	}
	limit := func(change func(*Limit)) func(*Plan) {
		return route(func(r *Route) { change(&r.Limits[0]) })
	}
	term := func(to Term) func(*Plan) {
		return func(p *Plan) { p.Policies[0].Selector[0] = to }
	}
	tests := map[string]struct {
		change func(*Plan)
		want   string
	}{
		"revision":            {func(p *Plan) { p.Revision = 0 }, "revision 0"},
		"namespace":           {func(p *Plan) { p.Namespace = "" }, "namespace"},
		"CA":                  {func(p *Plan) { p.CoordinatorCA = "x" }, "coordinatorCA holds no PEM"},
		"CA too long":         {func(p *Plan) { p.ProviderCA = strings.Repeat("x", MaxCABytes+1) }, "providerCA exceeds"},
		"repeated policy":     {func(p *Plan) { p.Policies[1].Name = "a" }, "appears twice"},
		"too many policies":   {func(p *Plan) { p.Policies = make([]Policy, MaxPolicies+1) }, "exceed"},
		"max gateways":        {func(p *Plan) { p.Policies[0].MaxGateways = 0 }, "maxGateways"},
		"no route":            {func(p *Plan) { p.Policies[0].Routes = nil }, "0 routes"},
		"repeated route":      {func(p *Plan) { p.Policies[1].Routes[1].Name = "openai" }, "appears twice"},
		"too many terms":      {func(p *Plan) { p.Policies[0].Selector = make([]Term, MaxTerms+1) }, "terms exceed"},
		"operator":            {term(Term{Key: "a", Operator: "Near"}), `operator "Near"`},
		"In without values":   {term(Term{Key: "a", Operator: In}), "no values"},
		"Exists with values":  {term(Term{"a", Exists, []string{"x"}}), "has values"},
		"too many values":     {term(Term{"a", In, make([]string, MaxValues+1)}), "values exceed"},
		"no key":              {term(Term{Operator: Exists}), "key is missing"},
		"route with a slash":  {route(func(r *Route) { r.Name = "a/b" }), "fit in a path"},
		"dialect":             {route(func(r *Route) { r.Dialect = "Klingon" }), `dialect "Klingon"`},
		"URL scheme":          {route(func(r *Route) { r.BaseURL = "ftp://x" }), "scheme"},
		"URL host":            {route(func(r *Route) { r.BaseURL = "https:///x" }), "no host"},
		"URL user":            {route(func(r *Route) { r.BaseURL = "https://u:p@x" }), "more than a scheme"},
		"URL query":           {route(func(r *Route) { r.BaseURL = "https://x?a" }), "more than a scheme"},
		"URL trailing slash":  {route(func(r *Route) { r.BaseURL = "https://x/" }), "trailing slash"},
		"URL control byte":    {route(func(r *Route) { r.BaseURL = "https://x\x00" }), "not a URL"},
		"too many limits":     {route(func(r *Route) { r.Limits = make([]Limit, MaxLimits+1) }), "limits exceed"},
		"repeated limit":      {route(func(r *Route) { r.Limits[1].Name = "requests" }), "appears twice"},
		"budget":              {limit(func(l *Limit) { l.Budget = "Words" }), `budget "Words"`},
		"negative amount":     {limit(func(l *Limit) { l.Amount = -1 }), "amount -1"},
		"amount too large":    {limit(func(l *Limit) { l.Amount = MaxAmount + 1 }), "not between"},
		"negative burst":      {limit(func(l *Limit) { l.Burst = -1 }), "burst -1"},
		"no window":           {limit(func(l *Limit) { l.WindowSeconds = 0 }), "window of 0"},
		"too many models":     {limit(func(l *Limit) { l.Models = make([]string, MaxModels+1) }), "models exceed"},
		"InFlight window":     {route(func(r *Route) { r.Limits[1].WindowSeconds = 60 }), "InFlight has a window"},
		"deadline":            {route(func(r *Route) { r.Deadline.DefaultMillis = 0 }), "deadline"},
		"jitter":              {route(func(r *Route) { r.Throttle.JitterPercent = 101 }), "jitter"},
		"attempts":            {route(func(r *Route) { r.Throttle.MaxAttempts = 0 }), "throttle: 0 attempts"},
		"overload attempts":   {route(func(r *Route) { r.Overload.MaxAttempts = 11 }), "overload: 11 attempts"},
		"base above cap":      {route(func(r *Route) { r.Unguided.BaseMillis = 30_001 }), "unguided"},
		"negative base":       {route(func(r *Route) { r.Overload.BaseMillis = -1 }), "overload"},
		"no lane":             {route(func(r *Route) { r.Lanes = nil }), "0 lanes"},
		"repeated lane":       {route(func(r *Route) { r.Lanes[0].Name = DefaultLane }), "appears twice"},
		"shares above 1":      {route(func(r *Route) { r.Lanes[0].SharePermille = 401 }), "add up to 1001"},
		"negative share":      {route(func(r *Route) { r.Lanes[0].SharePermille = -1 }), "share of -1"},
		"depth":               {route(func(r *Route) { r.Lanes[0].MaxDepth = 10_001 }), "depth of 10001"},
		"wait":                {route(func(r *Route) { r.Lanes[0].MaxWaitMillis = -1 }), "wait of -1"},
		"largest call":        {route(func(r *Route) { r.Lanes[0].LargestCallTokens = -1 }), "largestCallTokens"},
		"smallest call":       {route(func(r *Route) { r.Lanes[0].MinInputTokens = -1 }), "minInputTokens"},
		"last lane's name":    {route(func(r *Route) { r.Lanes[1].Name = "x" }), "last lane"},
		"last lane's matches": {route(func(r *Route) { r.Lanes[1].MinInputTokens = 1 }), "last lane"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := testPlan()
			tc.change(&p)
			err := p.Validate()
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Validate = %v, want an error with %q", err, tc.want)
			}
		})
	}
}
