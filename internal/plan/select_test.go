// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import "testing"

func TestSelectFollowsPrecedenceAndBuiltInRoutes(t *testing.T) {
	p := testPlan()
	a, b := map[string]string{"app": "a"}, map[string]string{"app": "b"}
	tests := map[string]struct {
		labels     map[string]string
		route      string
		wantPolicy string
		wantRoute  string
	}{
		"the first policy that selects the pod and has the route":  {a, "azure", "a", "azure"},
		"a built-in route means the only provider of its dialect":  {a, "openai", "a", "azure"},
		"a built-in route means the provider of its name":          {b, "openai", "all", "openai"},
		"a route the first policy lacks is looked for in the next": {a, "other", "all", "other"},
		"a policy that does not select the pod is passed over":     {b, "azure", "", ""},
		"no labels":                                    {nil, "other", "all", "other"},
		"no provider of the dialect":                   {a, "anthropic", "", ""},
		"Generic has no built-in route":                {b, "generic", "", ""},
		"an unknown route":                             {a, "nothing", "", ""},
		"a dialect's name is not a route as spelled":   {b, "Generic", "", ""},
		"the empty route, which a bare slash asks for": {b, "", "", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			policy, route, ok := p.Select(tc.labels, tc.route)
			if !ok {
				if tc.wantPolicy != "" {
					t.Fatalf("nothing governs %s, want %s", tc.route, tc.wantPolicy)
				}
				return
			}
			if policy.Name != tc.wantPolicy || route.Name != tc.wantRoute {
				t.Errorf("Select = %s/%s, want %s/%s", policy.Name, route.Name, tc.wantPolicy, tc.wantRoute)
			}
		})
	}
}

func TestSelectRefusesToGuess(t *testing.T) {
	p := testPlan()
	p.Policies[1].Routes[0].Name = "third"
	if _, route, ok := p.Select(nil, "openai"); ok {
		t.Errorf("of two providers of the dialect Select took %s", route.Name)
	}
}

func TestTermsMeanWhatKubernetesMeans(t *testing.T) {
	labels := map[string]string{"tier": "web", "empty": ""}
	tests := map[string]struct {
		term Term
		want bool
	}{
		"In holds":                    {Term{"tier", In, []string{"db", "web"}}, true},
		"In without the value":        {Term{"tier", In, []string{"db"}}, false},
		"In without the key":          {Term{"none", In, []string{""}}, false},
		"In with an empty value":      {Term{"empty", In, []string{""}}, true},
		"NotIn holds":                 {Term{"tier", NotIn, []string{"db"}}, true},
		"NotIn with the value":        {Term{"tier", NotIn, []string{"web"}}, false},
		"NotIn without the key":       {Term{"none", NotIn, []string{"x"}}, true},
		"Exists":                      {Term{"empty", Exists, nil}, true},
		"Exists without the key":      {Term{"none", Exists, nil}, false},
		"DoesNotExist":                {Term{"none", DoesNotExist, nil}, true},
		"DoesNotExist with the key":   {Term{"tier", DoesNotExist, nil}, false},
		"an operator nobody knows":    {Term{"tier", "Near", []string{"web"}}, false},
		"an operator that is missing": {Term{Key: "tier"}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.term.Holds(labels); got != tc.want {
				t.Errorf("Holds = %t, want %t", got, tc.want)
			}
		})
	}
}

func TestAllTermsMustHold(t *testing.T) {
	policy := Policy{Selector: []Term{{"a", Exists, nil}, {"b", Exists, nil}}}
	if policy.Selects(map[string]string{"a": ""}) {
		t.Error("one term of two is enough")
	}
	if !policy.Selects(map[string]string{"a": "", "b": ""}) {
		t.Error("both terms hold and the policy does not select the pod")
	}
}
