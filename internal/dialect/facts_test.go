// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package dialect

import (
	"net/url"
	"slices"
	"strings"
	"testing"
)

func TestEveryNameMeansOneDialect(t *testing.T) {
	seen := map[string]string{}
	for _, f := range All() {
		if f.Route != strings.ToLower(f.Name) {
			t.Errorf("the route of %s is %s", f.Name, f.Route)
		}
		for _, name := range append([]string{f.Route}, f.Aliases...) {
			if other, taken := seen[name]; taken {
				t.Errorf("%s means %s and %s", name, other, f.Name)
			}
			seen[name] = f.Name
			if got, ok := Find(strings.ToUpper(name)); !ok || got.Name != f.Name {
				t.Errorf("Find(%s) = %s, %t, want %s", name, got.Name, ok, f.Name)
			}
		}
	}
}

// Either there is a place to call, or an example of one.
func TestEveryDialectHasAURLOrShowsOne(t *testing.T) {
	for _, f := range All() {
		if (f.DefaultBaseURL == "") == (f.ExampleBaseURL == "") {
			t.Errorf("%s: default %q, example %q, want one of them", f.Name, f.DefaultBaseURL, f.ExampleBaseURL)
		}
		u, err := url.Parse(f.DefaultBaseURL + f.ExampleBaseURL)
		if err != nil || u.Host == "" || u.Path != "" || u.RawQuery != "" {
			t.Errorf("%s: %q is no base URL", f.Name, f.DefaultBaseURL+f.ExampleBaseURL)
		}
	}
}

func TestAHostTellsItsDialect(t *testing.T) {
	for host, want := range map[string]string{
		"contoso-eu.openai.azure.com": "AzureOpenAI", "API.OpenAI.com": "OpenAI", "api.openai.com.example.com": "",
		"bedrock-runtime.eu-central-1.amazonaws.com": "Bedrock", "europe-west4-aiplatform.googleapis.com": "VertexAI",
		"aiplatform.googleapis.com": "VertexAI", "generativelanguage.googleapis.com": "Gemini", "s3.amazonaws.com": "",
		"": "", "llm.models.svc": "",
	} {
		if f, ok := ByHost(host); f.Name != want || ok != (want != "") {
			t.Errorf("ByHost(%s) = %q, want %q", host, f.Name, want)
		}
	}
}

// A variable that two dialects set would lead one of them astray.
func TestNoVariableIsSetTwice(t *testing.T) {
	var seen []string
	for _, f := range All() {
		for _, v := range f.BaseURLVariables {
			if slices.Contains(seen, v.Name) {
				t.Errorf("%s: %s is another dialect's too", f.Name, v.Name)
			}
			seen = append(seen, v.Name)
			if v.Path != "" && (!strings.HasPrefix(v.Path, "/") || strings.HasSuffix(v.Path, "/")) {
				t.Errorf("%s: path %q", v.Name, v.Path)
			}
		}
	}
}
