// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/policy"
)

// What became of a policy is told by one reason, the gravest, with what to do.
func TestOutcomesInTheWordsOfAccepted(t *testing.T) {
	var many field.ErrorList
	for range maxProblems + 2 {
		many = append(many, field.Required(field.NewPath("spec", "providers"), "state one"))
	}
	for name, tc := range map[string]struct {
		outcome policy.Outcome
		reason  string
		message string
	}{
		"valid":               {policy.Outcome{}, v1alpha1.ReasonValid, ""},
		"one route lost":      {policy.Outcome{Overrides: []policy.Override{{Route: "openai", By: "older"}}}, v1alpha1.ReasonValid, "Policy older governs route openai."},
		"all routes lost":     {policy.Outcome{OverriddenBy: "older"}, v1alpha1.ReasonOverridden, "Policy older governs all routes"},
		"no room in the plan": {policy.Outcome{TooBig: true}, v1alpha1.ReasonPlanTooBig, "would exceed 900 KiB"},
		"invalid":             {policy.Outcome{Errors: many, TooBig: true}, v1alpha1.ReasonInvalid, "spec.providers: Required value: state one"},
		"many problems":       {policy.Outcome{Errors: many}, v1alpha1.ReasonInvalid, "and 2 more."},
	} {
		if got := accepted(tc.outcome); got.Reason != tc.reason || !strings.Contains(got.Message, tc.message) {
			t.Errorf("%s: %s %q, want %s with %q", name, got.Reason, got.Message, tc.reason, tc.message)
		}
	}
}
