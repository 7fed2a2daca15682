// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/plan"
)

func TestRevisionChangesOnlyWithTheContent(t *testing.T) {
	policies := []v1alpha1.RateLimitPolicy{policyOf("a", 1, nil, openAI())}
	first, _ := Compile(policies, Inputs{Namespace: "team", Now: testNow})
	if first.Revision != testNow.UnixMilli() {
		t.Errorf("the first revision is %d, want the clock's %d", first.Revision, testNow.UnixMilli())
	}
	later := testNow.Add(time.Hour)
	same, _ := Compile(policies, Inputs{Namespace: "team", Now: later, Previous: &first})
	if same.Revision != first.Revision {
		t.Error("the same content has a new revision")
	}
	policies[0].Generation++
	edited, _ := Compile(policies, Inputs{Namespace: "team", Now: later, Previous: &first})
	if edited.Revision != later.UnixMilli() {
		t.Errorf("an edit has revision %d, want %d", edited.Revision, later.UnixMilli())
	}
	back, _ := Compile(policies, Inputs{Namespace: "team", Now: testNow.Add(-time.Hour), Previous: &first})
	if back.Revision != first.Revision+1 {
		t.Errorf("with the clock set back an edit has revision %d, want %d", back.Revision, first.Revision+1)
	}
	rotated, _ := Compile(policies, Inputs{Namespace: "team", Now: later, Previous: &edited, CoordinatorCA: "x"})
	if rotated.Revision <= edited.Revision {
		t.Error("another CA keeps the revision")
	}
}

// An edit that has no meaning leaves the last good generation in force, at its place; a policy that never was
// good, another one of the same name, and one that is gone are not in the plan.
func TestAnInvalidEditKeepsTheLastGoodGeneration(t *testing.T) {
	good := func() []v1alpha1.RateLimitPolicy {
		all := []v1alpha1.RateLimitPolicy{
			policyOf("everyone", 1, nil, openAI()), policyOf("chat", 2, map[string]string{"app": "chat"}, openAI()),
			policyOf("batch", 3, map[string]string{"app": "batch"}, openAI()),
		}
		for i := range all {
			all[i].UID, all[i].Generation = types.UID("uid-"+all[i].Name), 1
		}
		return all
	}
	spoil := func(p *v1alpha1.RateLimitPolicy) { p.Spec.Providers[0].Name, p.Generation = "mine", 2 }
	first, _ := Compile(good(), Inputs{Namespace: "team", Now: testNow})
	for name, tc := range map[string]struct {
		change func(all []v1alpha1.RateLimitPolicy) []v1alpha1.RateLimitPolicy
		want   []string
		same   bool
	}{
		"an edit": {func(all []v1alpha1.RateLimitPolicy) []v1alpha1.RateLimitPolicy {
			spoil(&all[1])
			return all
		}, []string{"batch 1", "chat 1", "everyone 1"}, true},
		"an edit of the selector too": {func(all []v1alpha1.RateLimitPolicy) []v1alpha1.RateLimitPolicy {
			spoil(&all[1])
			all[1].Spec.PodSelector = nil
			return all
		}, []string{"batch 1", "chat 1", "everyone 1"}, true},
		"another of the same name": {func(all []v1alpha1.RateLimitPolicy) []v1alpha1.RateLimitPolicy {
			spoil(&all[1])
			all[1].UID = "another"
			return all
		}, []string{"batch 1", "everyone 1"}, false},
		"one that never was good": {func(all []v1alpha1.RateLimitPolicy) []v1alpha1.RateLimitPolicy {
			fresh := policyOf("fresh", 0, nil, openAI())
			fresh.UID = "uid-fresh"
			spoil(&fresh)
			return append(all, fresh)
		}, []string{"batch 1", "chat 1", "everyone 1"}, true},
		"one that goes": {func(all []v1alpha1.RateLimitPolicy) []v1alpha1.RateLimitPolicy {
			spoil(&all[1])
			return all[1:]
		}, []string{"batch 1", "chat 1"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			next, _ := Compile(tc.change(good()), Inputs{Namespace: "team", Now: testNow.Add(time.Hour), Previous: &first})
			var got []string
			for _, p := range next.Policies {
				got = append(got, fmt.Sprintf("%s %d", p.Name, p.Generation))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			if (next.Revision == first.Revision) != tc.same {
				t.Errorf("revision %d after %d", next.Revision, first.Revision)
			}
		})
	}
	edited := good()
	spoil(&edited[1])
	_, outcomes := Compile(edited, Inputs{Namespace: "team", Now: testNow, Previous: &first})
	if len(outcomes[1].Errors) == 0 || outcomes[1].InPlan() {
		t.Errorf("the edit reads as in force: %+v", outcomes[1])
	}
}

func TestMaxGatewaysIsTwiceThePodsAndDoesNotFlap(t *testing.T) {
	stated := int32(40)
	tests := map[string]struct {
		pods     int32
		previous int32
		stated   *int32
		want     int32
	}{
		"none seen":                         {0, 0, nil, 4},
		"twice the pods":                    {10, 0, nil, 20},
		"stated":                            {10, 20, &stated, 40},
		"a few pods fewer keep it":          {10, 32, nil, 32},
		"half the pods keep it":             {10, 40, nil, 40},
		"fewer than half shrink it":         {10, 41, nil, 20},
		"more pods raise it":                {11, 20, nil, 22},
		"more pods than the API can state":  {20_000, 0, nil, 10_000},
		"a number nobody can have reported": {-5, 0, nil, 4},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := policyOf("a", 1, nil, openAI())
			p.Spec.MaxGateways = tc.stated
			in := Inputs{Namespace: "team", Now: testNow, PodsSeen: map[string]int32{"a": tc.pods}}
			if tc.previous > 0 {
				in.Previous = &plan.Plan{Policies: []plan.Policy{{Name: "a", MaxGateways: tc.previous}}}
			}
			result, _ := Compile([]v1alpha1.RateLimitPolicy{p}, in)
			if got := result.Policies[0].MaxGateways; got != tc.want {
				t.Errorf("maxGateways = %d, want %d", got, tc.want)
			}
		})
	}
}

func TestOverriddenNamesTheWinner(t *testing.T) {
	app := map[string]string{"app": "a"}
	appTier := map[string]string{"app": "a", "tier": "x"}
	azure := v1alpha1.Provider{Name: "azure", Dialect: v1alpha1.DialectOpenAI, BaseURL: "https://a.example.com"}
	anthropic := v1alpha1.Provider{Name: "anthropic"}
	tests := map[string]struct {
		policies []v1alpha1.RateLimitPolicy
		want     map[string]string
	}{
		"the older of two for all pods": {
			[]v1alpha1.RateLimitPolicy{policyOf("new", 1, nil, openAI()), policyOf("old", 2, nil, openAI())},
			map[string]string{"new": "old"},
		},
		"the name, at the same age": {
			[]v1alpha1.RateLimitPolicy{policyOf("b", 1, nil, openAI()), policyOf("a", 1, nil, openAI())},
			map[string]string{"b": "a"},
		},
		"a selector wins some pods only": {
			[]v1alpha1.RateLimitPolicy{policyOf("all", 2, nil, openAI()), policyOf("some", 1, app, openAI())},
			map[string]string{},
		},
		"an older, wider selector": {
			[]v1alpha1.RateLimitPolicy{policyOf("wide", 2, app, openAI()), policyOf("narrow", 1, appTier, openAI())},
			map[string]string{"narrow": "wide"},
		},
		"an older, narrower selector": {
			[]v1alpha1.RateLimitPolicy{policyOf("wide", 1, app, openAI()), policyOf("narrow", 2, appTier, openAI())},
			map[string]string{},
		},
		"another provider is left": {
			[]v1alpha1.RateLimitPolicy{policyOf("new", 1, nil, openAI(), anthropic), policyOf("old", 2, nil, openAI())},
			map[string]string{},
		},
		"two winners together": {
			[]v1alpha1.RateLimitPolicy{
				policyOf("new", 1, nil, anthropic, openAI()), policyOf("old", 2, nil, openAI()), policyOf("older", 3, nil, anthropic),
			},
			map[string]string{"new": "older"},
		},
		"a built-in route of another name": {
			[]v1alpha1.RateLimitPolicy{policyOf("new", 1, nil, openAI()), policyOf("old", 2, nil, azure)},
			map[string]string{"new": "old"},
		},
		"an empty selector is none": {
			[]v1alpha1.RateLimitPolicy{policyOf("new", 1, map[string]string{}, openAI()), policyOf("old", 2, nil, openAI())},
			map[string]string{"new": "old"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, outcomes := Compile(tc.policies, Inputs{Namespace: "team", Now: testNow})
			got := map[string]string{}
			for _, o := range outcomes {
				if o.OverriddenBy != "" {
					got[o.Name] = o.OverriddenBy
				}
				if !o.InPlan() {
					t.Errorf("an overridden policy is left out: %s", o.Name)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("overridden (-want +got):\n%s", diff)
			}
		})
	}
}

// big is a policy of about 300 KiB in the plan.
func big(name string, age int) v1alpha1.RateLimitPolicy {
	p := policyOf(name, age, nil)
	for i := range maxProviders {
		provider := providerAt(fmt.Sprintf("p%d", i), "https://x.example.com/"+strings.Repeat("x", 2000))
		for j := range maxLimits {
			limit := v1alpha1.Limit{Name: fmt.Sprintf("l%d", j), Budget: v1alpha1.BudgetRequests, Per: v1alpha1.WindowMinute}
			limit.Amount.Set(1)
			for k := range 8 {
				limit.Models = append(limit.Models, fmt.Sprintf("%d-%s", k, strings.Repeat("m", 120)))
			}
			limit.Amount.Format = "DecimalSI"
			provider.Limits = append(provider.Limits, limit)
		}
		p.Spec.Providers = append(p.Spec.Providers, provider)
	}
	return p
}

func TestPlanTooBigLeavesOutTheYoungest(t *testing.T) {
	policies := []v1alpha1.RateLimitPolicy{
		big("young", 1), big("old", 4), big("middle", 3), policyOf("small", 2, nil, openAI()),
	}
	result, outcomes := Compile(policies, Inputs{Namespace: "team", Now: testNow})
	for _, o := range outcomes {
		if len(o.Errors) > 0 {
			t.Fatalf("%s: %v", o.Name, o.Errors)
		}
		if want := o.Name == "young"; o.TooBig != want {
			t.Errorf("%s: too big = %t, want %t", o.Name, o.TooBig, want)
		}
	}
	data, err := plan.Encode(result)
	if err != nil {
		t.Fatalf("the plan does not fit: %v", err)
	}
	if _, err := plan.Parse(data); err != nil {
		t.Errorf("a gateway refuses it: %v", err)
	}
}

func TestCompileLeavesPoliciesAlone(t *testing.T) {
	p := decodeSpec(t, "{podSelector: {matchExpressions: [{key: a, operator: In, values: [z, b]}]}, "+
		"providers: [{name: openai, limits: [{name: a, budget: Tokens, amount: 2k, per: Minute, models: [m]}]}]}")
	before := p.DeepCopy()
	result, _ := Compile([]v1alpha1.RateLimitPolicy{p}, Inputs{Namespace: "team", Now: testNow})
	result.Policies[0].Routes[0].Limits[0].Models[0] = "changed"
	if diff := cmp.Diff(before, &p); diff != "" {
		t.Errorf("the policy changed:\n%s", diff)
	}
}
