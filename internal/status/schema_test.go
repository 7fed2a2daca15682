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
