// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"testing"

	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
)

// TestASharedLimitCountsEveryModelThatACallNames, as one that is not shared does.
func TestASharedLimitCountsEveryModelThatACallNames(t *testing.T) {
	l := newLimit(plan.Limit{Name: "dear", Budget: plan.Requests, Amount: 10, Burst: 10, WindowSeconds: 60, Models: []string{"dear*"}}, 1, 1)
	estimator := admission.NewEstimator(facts.AsProduced)
	for name, tc := range map[string]struct {
		r    dialect.Request
		want float64
	}{
		"it":           {dialect.Request{Model: "dear-1"}, 1},
		"another":      {dialect.Request{Model: "cheap"}, 0},
		"both":         {dialect.Request{Model: "cheap", Others: [dialect.MaxOthers]string{"plain", "dear-1"}}, 1},
		"two others":   {dialect.Request{Model: "cheap", Others: [dialect.MaxOthers]string{"plain"}}, 0},
		"nobody knows": {dialect.Request{Many: true}, 1},
	} {
		c := &admission.Ticket{Account: admission.Account{Model: tc.r.Model}, Metered: true, Estimate: estimator.Of(&tc.r)}
		if got := l.cost(c); got != tc.want {
			t.Errorf("%s: a call takes %v of it, want %v", name, got, tc.want)
		}
	}
}
