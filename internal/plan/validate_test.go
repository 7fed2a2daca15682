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
	lane := func(change func(*Lane)) func(*Plan) {
		return route(func(r *Route) { change(&r.Lanes[0]) })
	}
	deferred := func(change func(*Route)) func(*Plan) {
		return route(func(r *Route) { deferring(r); change(r) })
	}
	host := func(name string) func(*Plan) {
		return deferred(func(r *Route) { r.Deferred.CallbackHosts = []string{name} })
	}
	failover := func(to string) func(*Plan) {
		return func(p *Plan) {
			t := &p.Policies[1].Routes[0].Throttle
			t.OnCeilingExceeded, t.FailoverTo = Failover, to
		}
	}
	negative := int64(-1)
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
		"last lane's header":  {route(func(r *Route) { r.Lanes[1].Header = &Header{Name: "a"} }), "last lane"},
		"last lane's models":  {route(func(r *Route) { r.Lanes[1].Models = []string{"a"} }), "last lane"},
		"last lane's paths":   {route(func(r *Route) { r.Lanes[1].Paths = []string{"/a"} }), "last lane"},
		"priority":            {lane(func(l *Lane) { l.Priority = 1001 }), "priority 1001"},
		"negative priority":   {lane(func(l *Lane) { l.Priority = -1001 }), "priority -1001"},
		"weight":              {lane(func(l *Lane) { l.Weight = 101 }), "weight 101"},
		"negative weight":     {lane(func(l *Lane) { l.Weight = -1 }), "weight -1"},
		"negative hold":       {lane(func(l *Lane) { l.HoldMillis = &negative }), "hold of -1ms"},
		"bytes":               {lane(func(l *Lane) { l.MaxBytes = MaxAmount + 1 }), "bytes of"},
		"negative bytes":      {lane(func(l *Lane) { l.MaxBytes = -1 }), "bytes of -1"},
		"lane's key":          {lane(func(l *Lane) { l.CredentialKey = "../token" }), "credentialKey"},
		"route's key":         {route(func(r *Route) { r.CredentialKey = "a/b" }), "credentialKey"},
		"header's name":       {lane(func(l *Lane) { l.Header = &Header{Name: "a b"} }), "header: the name"},
		"no header's name":    {lane(func(l *Lane) { l.Header = &Header{Value: "a"} }), "header: the name"},
		"long header's name":  {lane(func(l *Lane) { l.Header = &Header{Name: strings.Repeat("a", 257)} }), "header: the name"},
		"header's value":      {lane(func(l *Lane) { l.Header = &Header{"a", "b\n"} }), "header: the value"},
		"lane's models":       {lane(func(l *Lane) { l.Models = make([]string, MaxModels+1) }), "17 models exceed"},
		"lane's paths":        {lane(func(l *Lane) { l.Paths = make([]string, MaxPaths+1) }), "17 paths exceed"},
		"empty glob":          {lane(func(l *Lane) { l.Paths = []string{""} }), "empty or overlong"},
		"overlong glob":       {lane(func(l *Lane) { l.Models = []string{strings.Repeat("a", MaxGlobBytes+1)} }), "empty or overlong"},
		"deadline's word":     {route(func(r *Route) { r.Deadline.OnExceeded = Failover }), `deadline: "Failover"`},
		"ceiling's word":      {route(func(r *Route) { r.Throttle.OnCeilingExceeded = "Decline" }), `throttle: "Decline"`},
		"no route to go to":   {route(func(r *Route) { r.Throttle.OnCeilingExceeded = Failover }), "go together"},
		"a route, no word":    {route(func(r *Route) { r.Throttle.FailoverTo = "x" }), "go together"},
		"no bounds":           {deferred(func(r *Route) { r.Deferred = nil }), "go together"},
		"bounds for nothing":  {deferred(func(r *Route) { r.Deadline.OnExceeded = "" }), "go together"},
		"a caller's key":      {deferred(func(r *Route) { r.CredentialKey = "" }), "caller's key"},
		"no age":              {deferred(func(r *Route) { r.Deferred.MaxAgeSeconds = 0 }), "age of 0s"},
		"age":                 {deferred(func(r *Route) { r.Deferred.MaxAgeSeconds = 1 << 40 }), "age of"},
		"deferred attempts":   {deferred(func(r *Route) { r.Deferred.MaxAttempts = 101 }), "101 attempts"},
		"deferred calls":      {deferred(func(r *Route) { r.Deferred.MaxCalls = 0 }), "0 calls"},
		"deferred bytes":      {deferred(func(r *Route) { r.Deferred.MaxBytes = 0 }), "bytes of 0"},
		"too many hosts":      {deferred(func(r *Route) { r.Deferred.CallbackHosts = make([]string, 17) }), "17 callback hosts"},
		"host of an address":  {host("169.254.169.254"), "not a DNS name"},
		"host with a port":    {host("a.example.com:443"), "not a DNS name"},
		"host with a star":    {host("a.*.example.com"), "not a DNS name"},
		"host of a star":      {host("*.com"), "not a DNS name"},
		"host in capitals":    {host("A.example.com"), "not a DNS name"},
		"host of one part":    {host("localhost"), "not a DNS name"},
		"host without a part": {host("a..example.com"), "not a DNS name"},
		"failover to nowhere": {failover("nowhere"), `no route "nowhere"`},
		"failover to itself":  {failover("openai"), "to itself"},
		"another dialect":     {failover("g"), "another dialect"},
		"failover twice": {func(p *Plan) {
			failover("other")(p)
			p.Policies[1].Routes[1].Throttle = Throttle{MaxAttempts: 1, OnCeilingExceeded: Failover, FailoverTo: "openai"}
		}, "fails over too"},
		"outage":              {route(func(r *Route) { r.Outage = "Never" }), `outage "Never"`},
		"another's account":   {limit(func(l *Limit) { l.Name, l.Account = "acme:requests", "acme" }), `the route of ""`},
		"account's name":      {limit(func(l *Limit) { l.Account = "acme" }), "does not begin with"},
		"account's gateways":  {limit(func(l *Limit) { l.MaxGateways = -1 }), "maxGateways -1"},
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
