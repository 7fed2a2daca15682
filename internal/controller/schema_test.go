// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/plan"
)

func policyOf(name, amount string, generation int64) v1alpha1.RateLimitPolicy {
	return v1alpha1.RateLimitPolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name, UID: types.UID(name), Generation: generation},
		Spec: v1alpha1.RateLimitPolicySpec{Providers: []v1alpha1.Provider{{Name: "anthropic", Limits: []v1alpha1.Limit{
			{Name: "input-tokens", Budget: v1alpha1.BudgetInputTokens, Amount: resource.MustParse(amount), Per: v1alpha1.WindowMinute},
		}}}},
	}
}

// TestE7NothingIsPutInForceThatMayHaveLostALimit: of each policy the last good generation stays, and what is new waits.
//
// Fault E7: After an upgrade without its CRD the API server dropped a new limit from every policy without a word, and what
// is absent limits nothing.
// Headgate: The manager compares what it reads with what is served, of every field: while one would be dropped no edit is
// put in force, the last good plan stays, the policy's conditions name the field and the remedy, and the upgrade of the CRD
// is seen without a restart.
func TestE7NothingIsPutInForceThatMayHaveLostALimit(t *testing.T) {
	now := time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)
	ca := "-----BEGIN CERTIFICATE-----\n"
	r := New(Options{CoordinatorCA: func() []byte { return []byte(ca) }, Now: func() time.Time { return now }})
	decide := func(previous *plan.Plan, dropped []string, policies ...v1alpha1.RateLimitPolicy) *decision {
		t.Helper()
		d, err := r.decide(&observed{namespace: "team-a", policies: policies, plan: previous, dropped: dropped}, &namespace{})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	first := decide(nil, nil, policyOf("old", "400k", 1))
	dropped := []string{"RateLimitPolicy spec.providers[].burst", "b", "c", "d", "e"}
	held := decide(&first.plan, dropped, policyOf("old", "900k", 2), policyOf("new", "1k", 1))
	if len(held.plan.Policies) != 1 || held.plan.Policies[0].Generation != 1 || held.plan.Policies[0].Routes[0].Limits[0].Amount != 400_000 ||
		held.plan.Revision != first.plan.Revision {
		t.Errorf("in force is %+v", held.plan)
	}
	for name, inForce := range map[string]bool{"old": true, "new": false} {
		v := held.views[name]
		if v.outcome.Reason != v1alpha1.ReasonSchemaOutdated || (v.compiled != nil) != inForce ||
			!strings.Contains(v.outcome.Message, "spec.providers[].burst, b, c and 2 more. Apply the CRD") {
			t.Errorf("%s: %+v", name, v)
		}
	}
	// Certificates go on being renewed.
	ca = "-----BEGIN CERTIFICATE-----\nanother\n"
	if renewed := decide(&held.plan, dropped, policyOf("old", "900k", 2)); renewed.plan.Revision <= held.plan.Revision || len(renewed.plan.Policies) != 1 {
		t.Errorf("with other certificates: %+v", renewed.plan)
	}
	after := decide(&held.plan, nil, policyOf("old", "900k", 2), policyOf("new", "1k", 1))
	if !slices.ContainsFunc(after.plan.Policies, func(p plan.Policy) bool { return p.Name == "old" && p.Routes[0].Limits[0].Amount == 900_000 }) ||
		after.views["new"].outcome.Reason == v1alpha1.ReasonSchemaOutdated {
		t.Errorf("with the new CRD: %+v", after.plan)
	}
}
