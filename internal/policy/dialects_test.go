// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/dialect"
)

// The enum of the API and the facts are written down twice, since the API imports nothing of ours.
func TestTheAPIKnowsEveryDialect(t *testing.T) {
	all := dialect.All()
	if len(v1alpha1.Dialects()) != len(all) {
		t.Errorf("the API has %d dialects, the facts have %d", len(v1alpha1.Dialects()), len(all))
	}
	for i, name := range v1alpha1.Dialects() {
		if i < len(all) && string(name) != all[i].Name {
			t.Errorf("dialect %d is %s in the API and %s in the facts", i, name, all[i].Name)
		}
	}
}

// Every dialect has a policy, a plan that a gateway runs, and a built-in route that leads to it.
func TestEveryDialectCompiles(t *testing.T) {
	for _, facts := range dialect.All() {
		t.Run(facts.Name, func(t *testing.T) {
			p := policyOf("p", 1, nil, v1alpha1.Provider{
				Name: "mine", Dialect: v1alpha1.Dialect(facts.Name), BaseURL: "https://llm.example.com",
			})
			result, outcomes := Compile([]v1alpha1.RateLimitPolicy{p}, Inputs{Namespace: "team", Now: testNow})
			if !outcomes[0].InPlan() {
				t.Fatal(outcomes[0].Errors)
			}
			if err := result.Validate(); err != nil {
				t.Fatal(err)
			}
			_, route, ok := result.Select(nil, facts.Route)
			if ok != facts.BuiltIn() || ok && route.Dialect != facts.Name {
				t.Errorf("/%s leads to %v (%t)", facts.Route, route, ok)
			}
		})
	}
}

func TestANameMeansItsDialect(t *testing.T) {
	for name, want := range map[string]string{
		"azure": "AzureOpenAI", "google": "Gemini", "vertex": "VertexAI", "vllm": "SelfHosted", "ollama": "SelfHosted",
		"groq": "Groq", "x-ai": "XAI", "azure-eu": "Generic", "mine": "Generic",
	} {
		p := providerAt(name, "https://llm.example.com")
		if got := dialectOf(&p).Name; got != want {
			t.Errorf("%s means %s, want %s", name, got, want)
		}
	}
}

func TestWarningsOnDialects(t *testing.T) {
	limit := "limits: [{name: a, budget: Tokens, amount: 100k, per: Minute}]"
	tests := map[string]struct{ spec, want string }{
		"a name that begins like a dialect":  {"name: azure-eu, baseURL: 'https://llm.example.com'", "looks like AzureOpenAI: state dialect: AzureOpenAI"},
		"a name of two parts":                {"name: github-models-2, baseURL: 'https://llm.example.com'", "looks like GitHubModels"},
		"a host of a dialect":                {"name: eu, baseURL: 'https://x.openai.azure.com'", "looks like AzureOpenAI"},
		"a stated Generic is meant":          {"name: eu, dialect: Generic, baseURL: 'https://x.openai.azure.com'", ""},
		"a name that says nothing":           {"name: eu, baseURL: 'https://llm.example.com'", ""},
		"a name of another dialect":          {"name: azure, dialect: OpenAI, baseURL: 'https://llm.example.com'", "the name azure means AzureOpenAI"},
		"a sum where the provider has none":  {"name: anthropic, " + limit, "limits input and output tokens apart"},
		"a sum where the provider has one":   {"name: openai, " + limit, ""},
		"a sum where that is not known":      {"name: cohere, " + limit, ""},
		"a dialect named by an alias of its": {"name: vertex, baseURL: 'https://europe-west4-aiplatform.googleapis.com'", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := decodeSpec(t, "{providers: [{"+tc.spec+"}]}")
			got := strings.Join(Warnings(&p), "\n")
			if (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
				t.Errorf("warnings %q, want %q (%v)", got, tc.want, Validate(&p))
			}
		})
	}
}
