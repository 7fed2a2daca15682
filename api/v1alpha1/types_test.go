// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
)

// An amount of 0 stops everything and must survive typed clients; quantities stay as people write them.
func TestQuantitiesSurviveEncoding(t *testing.T) {
	tests := map[string]string{"0": `"0"`, "400k": `"400k"`, "1T": `"1T"`}
	for text, want := range tests {
		t.Run(text, func(t *testing.T) {
			out, err := json.Marshal(Limit{Name: "a", Budget: BudgetRequests, Amount: resource.MustParse(text)})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(out), `"amount":`+want) {
				t.Errorf("%s becomes %s", text, out)
			}
		})
	}
}

// What an author leaves out must not be written by a typed client: the schema refuses empty strings.
func TestAbsentFieldsStayAbsent(t *testing.T) {
	p := RateLimitPolicy{Spec: RateLimitPolicySpec{Providers: []Provider{{
		Name: "openai", Deadline: &Deadline{}, Throttle: &Throttle{}, Unguided: &Unguided{}, Overload: &Overload{},
		Lanes: []Lane{{Name: "a", Match: &LaneMatch{}, Queue: &LaneQueue{}}},
	}}}}
	out, err := json.Marshal(p.Spec)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"providers":[{"name":"openai","deadline":{},"throttle":{},"unguided":{},"overload":{},` +
		`"lanes":[{"name":"a","match":{},"queue":{}}]}]}`
	if string(out) != want {
		t.Errorf("written\n%s\nwant\n%s", out, want)
	}
}

func TestSchemeKnowsTheTypes(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"RateLimitPolicy", "RateLimitPolicyList", "ProviderAccount", "ProviderAccountList"} {
		if !scheme.Recognizes(GroupVersion.WithKind(kind)) {
			t.Errorf("the scheme does not know %s", kind)
		}
	}
}
