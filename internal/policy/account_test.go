// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/plan"
)

// decodeAccount reads an account named acme from the YAML of its spec.
func decodeAccount(tb testing.TB, spec string) *v1alpha1.ProviderAccount {
	tb.Helper()
	objects, err := Read([]byte("apiVersion: headgate.dev/v1alpha1\nkind: ProviderAccount\nmetadata: {name: acme}\nspec: " + spec))
	if err != nil {
		tb.Fatalf("decode %s: %v", spec, err)
	}
	return &objects.Accounts[0]
}

const acmeOf200k = "{dialect: OpenAI, limits: [{name: tokens, budget: Tokens, amount: 200k, per: Minute}], allowedNamespaces: {names: [team]}}"

// ofAcme is a policy whose provider draws on acme, with a limit of its own.
func ofAcme(tb testing.TB) v1alpha1.RateLimitPolicy {
	tb.Helper()
	p := decodeSpec(tb, "{providers: [{name: openai, accountRef: {name: acme}, limits: [{name: requests, budget: Requests, amount: 100, per: Minute}]}]}")
	p.UID = types.UID("uid-1")
	return p
}

func seenBy(namespace string, accounts ...*v1alpha1.ProviderAccount) map[string]Account {
	out := map[string]Account{}
	for _, a := range accounts {
		out[a.Name] = AccountFor(a, namespace, nil)
	}
	return out
}

// limitsOf writes the only route's limits: NAME=AMOUNT@ACCOUNT.
func limitsOf(tb testing.TB, p *plan.Plan) string {
	tb.Helper()
	if err := p.Validate(); err != nil {
		tb.Errorf("a gateway refuses the plan: %v", err)
	}
	var out []string
	for _, policy := range p.Policies {
		for _, l := range policy.Routes[0].Limits {
			out = append(out, fmt.Sprintf("%s=%d@%s", l.Name, l.Amount, l.Account))
		}
	}
	return strings.Join(out, " ")
}

// What becomes of a policy's limits as the account it refers to comes, changes, goes, and no longer allows the namespace.
func TestAccountsComeAndGo(t *testing.T) {
	policies := []v1alpha1.RateLimitPolicy{ofAcme(t)}
	var previous *plan.Plan
	steps := []struct {
		name     string
		accounts map[string]Account
		invalid  bool
		reason   string
		limits   string
	}{
		{"not there yet", nil, false, v1alpha1.ReasonAccountNotFound, "requests=100@"},
		{"there", seenBy("team", decodeAccount(t, acmeOf200k)), false, "", "requests=100@ acme:tokens=200000@acme"},
		{"gone: what was there stays", nil, false, v1alpha1.ReasonAccountNotFound, "requests=100@ acme:tokens=200000@acme"},
		{"and stays", nil, false, v1alpha1.ReasonAccountNotFound, "requests=100@ acme:tokens=200000@acme"},
		{"smaller", seenBy("team", decodeAccount(t, strings.Replace(acmeOf200k, "200k", "50k", 1))), false, "", "requests=100@ acme:tokens=50000@acme"},
		{"not for this namespace", seenBy("other", decodeAccount(t, acmeOf200k)), false, v1alpha1.ReasonAccountNotAllowed, "acme:not-allowed=0@ requests=100@"},
		{"gone: it stays refused", nil, false, v1alpha1.ReasonAccountNotFound, "requests=100@ acme:not-allowed=0@"},
		{"allowed, but the spec has no meaning", seenBy("team", decodeAccount(t, acmeOf200k)), true, "", "requests=100@ acme:tokens=200000@acme"},
		{"not allowed either", seenBy("other", decodeAccount(t, acmeOf200k)), true, "", "acme:not-allowed=0@ requests=100@"},
	}
	for _, step := range steps {
		spec := policies[0].DeepCopy()
		if step.invalid {
			spec.Spec.Providers[0].Limits[0].Budget = "Words"
		}
		got, outcomes := Compile([]v1alpha1.RateLimitPolicy{*spec}, Inputs{Namespace: "team", Accounts: step.accounts, Previous: previous, Now: testNow})
		if diff := cmp.Diff(step.limits, limitsOf(t, &got)); diff != "" {
			t.Errorf("%s: %s", step.name, diff)
		}
		if outcomes[0].Account != step.reason || outcomes[0].InPlan() != (step.reason == "" && !step.invalid) {
			t.Errorf("%s: %+v, want %q", step.name, outcomes[0], step.reason)
		}
		previous = &got
	}
}

// Another policy of the same name has no right to what the one before had.
func TestANamesakeKeepsNothingOfAnAccount(t *testing.T) {
	first, _ := Compile([]v1alpha1.RateLimitPolicy{ofAcme(t)}, Inputs{Namespace: "team", Accounts: seenBy("team", decodeAccount(t, acmeOf200k)), Now: testNow})
	other := ofAcme(t)
	other.UID = "uid-2"
	second, _ := Compile([]v1alpha1.RateLimitPolicy{other}, Inputs{Namespace: "team", Previous: &first, Now: testNow})
	if got := limitsOf(t, &second); got != "requests=100@" {
		t.Errorf("it has %s", got)
	}
}

func TestOnlyListedNamespacesAreAllowed(t *testing.T) {
	gold := map[string]string{"tier": "gold", "env": "prod"}
	tests := map[string]struct {
		allowed string
		labels  map[string]string
		want    bool
	}{
		"absent":               {"", gold, false},
		"empty":                {"allowedNamespaces: {}", gold, false},
		"named":                {"allowedNamespaces: {names: [a, team]}", nil, true},
		"another is named":     {"allowedNamespaces: {names: [team-a, tea]}", nil, false},
		"every namespace":      {"allowedNamespaces: {selector: {}}", nil, true},
		"a label":              {"allowedNamespaces: {selector: {matchLabels: {tier: gold}}}", gold, true},
		"another label":        {"allowedNamespaces: {selector: {matchLabels: {tier: silver}}}", gold, false},
		"no label":             {"allowedNamespaces: {selector: {matchLabels: {tier: gold}}}", nil, false},
		"one of two labels":    {"allowedNamespaces: {selector: {matchLabels: {tier: gold, env: test}}}", gold, false},
		"named, not labelled":  {"allowedNamespaces: {names: [team], selector: {matchLabels: {tier: silver}}}", gold, true},
		"an expression":        {"allowedNamespaces: {selector: {matchExpressions: [{key: tier, operator: In, values: [gold, silver]}]}}", gold, true},
		"an expression's not":  {"allowedNamespaces: {selector: {matchExpressions: [{key: env, operator: DoesNotExist}]}}", gold, false},
		"a tenant that is not": {"tenants: [{namespace: team, guaranteedPercent: 10}]", nil, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			a := decodeAccount(t, "\n  dialect: OpenAI\n  "+tc.allowed)
			if got := Allows(a, "team", tc.labels); got != tc.want {
				t.Errorf("allowed: %t, want %t", got, tc.want)
			}
		})
	}
}

// What is refused names the field, and tells nothing of the account but what its own policies are charged to.
func TestReferencesToAccountsAreChecked(t *testing.T) {
	many := "{dialect: OpenAI, limits: [" + strings.Repeat("{name: l%d, budget: InFlight, amount: 1}, ", 15) + "], allowedNamespaces: {names: [team]}}"
	for i := range 15 {
		many = strings.Replace(many, "%d", fmt.Sprint(i), 1)
	}
	tests := map[string]struct {
		account, provider string
		path, message     string
	}{
		"sound":             {acmeOf200k, "", "", ""},
		"another namespace": {strings.Replace(acmeOf200k, "[team]", "[secret-team]", 1), "", "accountRef.name", "does not allow this namespace"},
		"another dialect":   {strings.Replace(acmeOf200k, "OpenAI", "Groq", 1), "", "accountRef.name", "speaks dialect Groq and this provider OpenAI"},
		"too many limits": {
			many, "limits: [{name: a, budget: InFlight, amount: 1}, {name: b, budget: InFlight, amount: 1}]",
			"accountRef.name", "a call would be charged to 17, more than 16",
		},
		"a lane that never fits": {acmeOf200k, "lanes: [{name: bulk, match: {minInputTokens: 300k}}]", "lanes[0].match.minInputTokens", "ever fits limit acme:tokens"},
		"as many as go":          {many, "limits: [{name: a, budget: InFlight, amount: 1}]", "", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := decodeSpec(t, "{providers: [{name: openai, accountRef: {name: acme}, "+tc.provider+"}]}")
			errs, _ := ValidateAccounts(&p, seenBy("team", decodeAccount(t, tc.account)))
			said := fieldsOf(errs)
			if tc.path == "" {
				if len(said) > 0 {
					t.Errorf("refused: %v", errs)
				}
				return
			}
			if !strings.Contains(said["spec.providers[0]."+tc.path], tc.message) {
				t.Errorf("%v, want %q at %s", errs, tc.message, tc.path)
			}
			if strings.Contains(errs.ToAggregate().Error(), "secret-team") {
				t.Errorf("it tells of another namespace: %v", errs)
			}
		})
	}
}

func TestAccountsAreLearnedByBudget(t *testing.T) {
	a := decodeAccount(t, "{dialect: Anthropic, allowedNamespaces: {names: [team]}}")
	p := decodeSpec(t, "{providers: [{name: anthropic, accountRef: {name: acme}}]}")
	compiled := func() string {
		got, outcomes := Compile([]v1alpha1.RateLimitPolicy{p}, Inputs{Namespace: "team", Accounts: seenBy("team", a), Now: testNow})
		if len(outcomes[0].Errors) > 0 {
			t.Fatal(outcomes[0].Errors)
		}
		return limitsOf(t, &got)
	}
	const all = "1000000000000"
	if got, want := compiled(), "acme:requests="+all+"@ acme:input-tokens="+all+"@ acme:output-tokens="+all+"@"; got != want {
		t.Errorf("before anything is learned: %s, want %s", got, want)
	}
	a.Status.Limits = []v1alpha1.AccountLimitStatus{{Name: "input-tokens", Source: v1alpha1.LimitLearned, Value: 2_000_000}}
	if got, want := compiled(), "acme:requests="+all+"@ acme:input-tokens=2000000@acme acme:output-tokens="+all+"@"; got != want {
		t.Errorf("with one learned: %s, want %s", got, want)
	}
	a.Spec.Limits = []v1alpha1.Limit{{Name: "in-flight", Budget: v1alpha1.BudgetInFlight}}
	if got, want := compiled(), "acme:in-flight=0@acme"; got != want {
		t.Errorf("what is declared counts alone: %s, want %s", got, want)
	}
}

func TestAccountWarnings(t *testing.T) {
	tests := map[string]struct{ spec, want string }{
		"none":                          {acmeOf200k, ""},
		"nobody is allowed":             {"{dialect: OpenAI}", "spec.allowedNamespaces: no namespace"},
		"nothing passes":                {"{dialect: OpenAI, limits: [{name: a, budget: Tokens, amount: 0, per: Minute}], allowedNamespaces: {selector: {}}}", "spec.limits[0]: 0 lets no call"},
		"tokens apart":                  {"{dialect: Anthropic, limits: [{name: a, budget: Tokens, amount: 1k, per: Minute}], allowedNamespaces: {selector: {}}}", "spec.limits[0].budget: Anthropic limits"},
		"a tenant outside":              {"{dialect: OpenAI, limits: [{name: a, budget: Tokens, amount: 1k, per: Minute}], allowedNamespaces: {names: [a]}, tenants: [{namespace: b, guaranteedPercent: 1}]}", "spec.tenants[0].namespace: namespace b is not allowed"},
		"guarantees of what is learned": {"{dialect: OpenAI, allowedNamespaces: {selector: {}}, tenants: [{namespace: b, guaranteedPercent: 1}]}", "spec.limits: without limits they are learned from what"},
		"nothing to lend":               {"{dialect: OpenAI, allowedNamespaces: {selector: {}}, tenants: [{namespace: b, lendablePercent: 10}]}", "spec.tenants[0].lendablePercent: namespace b is guaranteed nothing"},
		"nothing at all":                {"{dialect: OpenAI, allowedNamespaces: {selector: {}}, tenants: [{namespace: b, borrowingLimitPercent: 0}]}", "spec.tenants[0]: namespace b is guaranteed nothing and may borrow nothing"},
		"not of the invalid":            {"{dialect: OpenAI, maxGateways: 0}", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(AccountWarnings(decodeAccount(t, tc.spec)), "\n")
			if (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) || strings.Contains(got, "\n") {
				t.Errorf("warnings %q, want %q", got, tc.want)
			}
		})
	}
}

// What an account guarantees is a part of the largest amount without overflow.
func TestGuaranteedParts(t *testing.T) {
	r := &plan.Route{Limits: []plan.Limit{
		{Name: "own", Budget: plan.Requests, Amount: 100, Burst: 100, WindowSeconds: 60},
		{Name: "acme:tokens", Budget: plan.Tokens, Amount: plan.MaxAmount, Burst: 7, WindowSeconds: 60, Account: "acme"},
		{Name: "acme:requests", Watch: true},
	}}
	for percent, want := range map[float64]int64{0: 0, 1: plan.MaxAmount / 100, 33: plan.MaxAmount / 100 * 33, 12.5: plan.MaxAmount / 8, 100: plan.MaxAmount} {
		got := Guaranteed(r, percent)
		if len(got.Limits) != 2 || got.Limits[0].Amount != 100 || got.Limits[1].Amount != want || got.Limits[1].Burst != 7 {
			t.Errorf("%v%% of it: %+v", percent, got.Limits)
		}
	}
	if r.Limits[1].Amount != plan.MaxAmount || len(r.Limits) != 3 {
		t.Error("the route was changed")
	}
}
