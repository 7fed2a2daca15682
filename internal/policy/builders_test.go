// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/headgate-dev/headgate/api/v1alpha1"
)

var testNow = time.UnixMilli(1_800_000_000_000)

// decodeSpec reads one policy from the YAML of its spec.
func decodeSpec(tb testing.TB, spec string) v1alpha1.RateLimitPolicy {
	tb.Helper()
	policies, err := Decode([]byte("apiVersion: headgate.dev/v1alpha1\nkind: RateLimitPolicy\nmetadata: {name: test}\nspec: " + spec))
	if err != nil {
		tb.Fatalf("decode %s: %v", spec, err)
	}
	return policies[0]
}

// openAI is a provider that needs nothing else.
func openAI() v1alpha1.Provider { return v1alpha1.Provider{Name: "openai"} }

// policyOf makes a policy of an age in seconds; a greater one is older.
func policyOf(name string, age int, selector map[string]string, providers ...v1alpha1.Provider) v1alpha1.RateLimitPolicy {
	p := v1alpha1.RateLimitPolicy{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Generation: 1, CreationTimestamp: metav1.NewTime(testNow.Add(-time.Duration(age) * time.Second)),
		},
		Spec: v1alpha1.RateLimitPolicySpec{Providers: providers},
	}
	if selector != nil {
		p.Spec.PodSelector = &v1alpha1.PodSelector{MatchLabels: selector}
	}
	return p
}

func fieldsOf(errs field.ErrorList) map[string]string {
	out := map[string]string{}
	for _, e := range errs {
		out[e.Field] += e.Error()
	}
	return out
}

func providerAt(name, baseURL string) v1alpha1.Provider {
	return v1alpha1.Provider{Name: name, BaseURL: baseURL}
}
