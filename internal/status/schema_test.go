// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/api/v1alpha1"
)

// TestE7AnOutdatedCRDIsSaidWithItsRemedy: nobody is told to correct a spec that is right.
func TestE7AnOutdatedCRDIsSaidWithItsRemedy(t *testing.T) {
	in := exampleInputs()
	in.Accepted = Outcome{Reason: v1alpha1.ReasonSchemaOutdated, Message: "The API server drops spec.x."}
	s := Build(in, examplePrevious(), exampleNow).Status
	for _, c := range s.Conditions[:3] {
		if c.Status != "False" || c.Reason != v1alpha1.ReasonSchemaOutdated {
			t.Errorf("%s is %s/%s: %s", c.Type, c.Status, c.Reason, c.Message)
		}
	}
	if !strings.HasPrefix(s.Summary.NextStep, "Apply the CRD of this version") {
		t.Errorf("next step %q", s.Summary.NextStep)
	}
}

// TestAPlanThatIsNotStoredIsSaid whatever gateways acknowledge, and the pods that they govern stay governed.
func TestAPlanThatIsNotStoredIsSaid(t *testing.T) {
	in := exampleInputs()
	before := Build(in, examplePrevious(), exampleNow).Status
	in.NotStored = "apply ConfigMap headgate-plan: exceeded quota"
	s := Build(in, examplePrevious(), exampleNow).Status
	programmed := find(s.Conditions, v1alpha1.ConditionProgrammed)
	if programmed.Status != "False" || programmed.Reason != v1alpha1.ReasonPlanNotStored || !strings.HasSuffix(programmed.Message, in.NotStored) {
		t.Errorf("%s/%s: %s", programmed.Status, programmed.Reason, programmed.Message)
	}
	if !strings.HasSuffix(s.Summary.NextStep, in.NotStored) || s.Gateways.Governed != before.Gateways.Governed ||
		find(s.Conditions, v1alpha1.ConditionReady).Reason != find(before.Conditions, v1alpha1.ConditionReady).Reason {
		t.Errorf("%+v, next step: %s", s.Gateways, s.Summary.NextStep)
	}
	// What is wrong with the policy itself is said before it.
	in.Accepted = Outcome{Reason: v1alpha1.ReasonInvalid, Message: "spec.x: no."}
	if got := find(Build(in, examplePrevious(), exampleNow).Status.Conditions, v1alpha1.ConditionProgrammed).Reason; got != v1alpha1.ReasonInvalid {
		t.Errorf("of an invalid policy: %s", got)
	}
}
