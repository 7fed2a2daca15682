// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/plan"
)

const smallest = "apiVersion: headgate.dev/v1alpha1\nkind: RateLimitPolicy\nmetadata: {name: a}\nspec: {providers: [{name: openai}]}\n"

func TestDecodeReadsSeveralDocuments(t *testing.T) {
	file := "# a comment\n---\n" + smallest + "---\n\n---\n# another\n---\n" + strings.Replace(smallest, "name: a", "name: b", 1) + "---\n"
	policies, err := Decode([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	if len(policies) != 2 || policies[0].Name != "a" || policies[1].Name != "b" {
		t.Errorf("read %d policies, want a and b", len(policies))
	}
}

// A policy and the account that it refers to may be in one file.
func TestReadReadsAccountsToo(t *testing.T) {
	const account = "---\napiVersion: headgate.dev/v1alpha1\nkind: ProviderAccount\nmetadata: {name: %s}\nspec: {dialect: OpenAI%s}\n"
	acme := fmt.Sprintf(account, "acme", "")
	tests := map[string]struct {
		file               string
		policies, accounts int
		want               string
	}{
		"both":               {smallest + acme, 1, 1, ""},
		"accounts alone":     {acme + fmt.Sprintf(account, "b", ""), 0, 2, ""},
		"names of two kinds": {smallest + fmt.Sprintf(account, "a", ""), 1, 1, ""},
		"the same twice":     {acme + acme, 0, 0, "account acme appears twice"},
		"no name":            {fmt.Sprintf(account, "", ""), 0, 0, "give the account a name"},
		"an unknown field":   {fmt.Sprintf(account, "a", ", limit: []"), 0, 0, `unknown field "spec.limit"`},
		"a fraction":         {fmt.Sprintf(account, "a", ", tenants: [{namespace: a, guaranteedPercent: 0.5}]"), 0, 0, "spec.tenants[0].guaranteedPercent"},
		"an empty name":      {fmt.Sprintf(account, "a", `, allowedNamespaces: {names: [""]}`), 0, 0, "spec.allowedNamespaces.names[0]"},
		"a list as a part":   {fmt.Sprintf(account, "a", ", tenants: [{namespace: a, weight: [1]}]"), 0, 0, "spec.tenants[0].weight"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Read([]byte(tc.file))
			if len(got.Policies) != tc.policies || len(got.Accounts) != tc.accounts {
				t.Errorf("read %d policies and %d accounts", len(got.Policies), len(got.Accounts))
			}
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Read = %v, want %q", err, tc.want)
			}
		})
	}
	if _, err := Decode([]byte(acme)); err == nil || !strings.Contains(err.Error(), "no RateLimitPolicy") {
		t.Errorf("Decode of an account = %v", err)
	}
}

func TestDecodeIsStrict(t *testing.T) {
	with := func(spec string) string { return strings.Split(smallest, "spec:")[0] + "spec: " + spec }
	tests := map[string]struct {
		file string
		want string
	}{
		"nothing":               {"", "no RateLimitPolicy"},
		"comments":              {"# x\n", "no RateLimitPolicy"},
		"no YAML":               {"a: [", "document 1"},
		"a scalar":              {"hello", "document 1"},
		"a list":                {"[1]", "document 1"},
		"another kind":          {"apiVersion: v1\nkind: Secret\n", `apiVersion "v1", kind "Secret"`},
		"another version":       {strings.Replace(smallest, "v1alpha1", "v1", 1), `"headgate.dev/v1"`},
		"in the second":         {smallest + "---\nkind: X\n", "document 2"},
		"no name":               {strings.Replace(smallest, "{name: a}", "{}", 1), "metadata.name"},
		"a name of capitals":    {strings.Replace(smallest, "name: a", "name: A", 1), "metadata.name"},
		"the same name":         {smallest + "---\n" + smallest, "appears twice"},
		"no spec":               {strings.Split(smallest, "spec:")[0], "spec"},
		"unknown field":         {with("{providers: [{name: openai, limit: []}]}"), `unknown field "spec.providers[0].limit"`},
		"field of another case": {with("{Providers: [{name: openai}]}"), `unknown field "spec.Providers"`},
		"repeated field":        {with("\n  mode: Enforce\n  mode: Observe\n"), `"mode" already set`},
		"wrong type":            {with("{providers: [{name: a}, {name: [x]}]}"), "spec.providers[1].name: Invalid value: \"a list\": must be a string"},
		"a number for a string": {with("{providers: [{name: openai, limits: [{name: 5}]}]}"), "spec.providers[0].limits[0].name: Invalid value: 5"},
		"a string for a number": {with("{maxGateways: many, providers: [{name: openai}]}"), "spec.maxGateways"},
		"an object for a list":  {with("{providers: {name: openai}}"), "spec.providers: Invalid value: \"an object\": must be a list"},
		"a list for an object":  {with("{providers: [{name: openai, lanes: [{name: a, queue: []}]}]}"), "spec.providers[0].lanes[0].queue"},
		"a label that is none":  {with("{podSelector: {matchLabels: {a: 1}}, providers: [{name: openai}]}"), "spec.podSelector.matchLabels[a]"},
		"models of numbers":     {with("{providers: [{name: openai, limits: [{name: a, models: [x, 4]}]}]}"), "spec.providers[0].limits[0].models[1]"},
		"quantity":              {with("{providers: [{name: openai, limits: [{amount: many}]}]}"), "spec.providers[0].limits[0].amount"},
		"empty string":          {with("{providers: [{name: openai, baseURL: ''}]}"), "spec.providers[0].baseURL"},
		"too many bytes":        {smallest + strings.Repeat("#", maxFileBytes), "bytes"},
		"aliases that explode":  {billionLaughs(), "document 1"},
		"too deep":              {with("{providers: " + strings.Repeat("[", 100) + strings.Repeat("]", 100) + "}"), "nested too deeply"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Decode([]byte(tc.file))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Decode = %v, want an error with %q", err, tc.want)
			}
		})
	}
}

// One line of just the reader's buffer, without a line break, must not be lost.
func TestDecodeKeepsALastLineOfAnyLength(t *testing.T) {
	flow := `{"apiVersion":"headgate.dev/v1alpha1","kind":"RateLimitPolicy","metadata":{"name":"a"},"spec":{"providers":[{"name":"openai"}]}}`
	for _, length := range []int{4095, 4096, 4097, 8192} {
		file := strings.Repeat(" ", length-len(flow)) + flow
		if _, err := Decode([]byte(file)); err != nil {
			t.Errorf("a file of one line of %d bytes: %v", length, err)
		}
	}
}

func billionLaughs() string {
	var b strings.Builder
	b.WriteString("a0: &a0 x\n")
	for i := 1; i < 40; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s*a%d]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), i-1)
	}
	return b.String()
}

// Whatever a file holds, reading, checking and compiling it ends, and ends in a plan that gateways accept.
func FuzzDecodeAndCompile(f *testing.F) {
	for _, pattern := range []string{"testdata/*.in.yaml", "../../config/samples/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatalf("no seeds in %s: %v", pattern, err)
		}
		for _, path := range files {
			content, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(content)
		}
	}
	f.Add([]byte(smallest))
	f.Fuzz(func(t *testing.T, content []byte) {
		objects, err := Read(content)
		if err != nil {
			return
		}
		for i := range objects.Accounts {
			AccountWarnings(&objects.Accounts[i])
		}
		accounts, err := objects.AccountsOf("team")
		if err != nil {
			accounts = nil
		}
		policies := objects.Policies
		for i := range policies {
			Warnings(&policies[i])
		}
		result, outcomes := Compile(policies, Inputs{Namespace: "team", Accounts: accounts, Now: testNow})
		if len(outcomes) != len(policies) {
			t.Errorf("%d outcomes for %d policies", len(outcomes), len(policies))
		}
		data, err := plan.Encode(result)
		if err != nil {
			t.Fatalf("encode: %v", err)
		}
		if _, err := plan.Parse(data); err != nil {
			t.Errorf("a gateway refuses the plan: %v", err)
		}
	})
}
