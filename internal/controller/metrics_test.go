// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/headgate-dev/headgate/api/v1alpha1"
)

func TestPodsMetricFollowsPolicies(t *testing.T) {
	p := &podCounts{counts: map[string]map[string]v1alpha1.GatewayCounts{}}
	p.put("a", map[string]v1alpha1.GatewayCounts{"x": {Matching: 12, Injected: 11, Governed: 10, Reporting: 11, Silent: 1, UpToDate: 11}})
	p.put("b", map[string]v1alpha1.GatewayCounts{"y": {Matching: 1}})
	p.put("b", nil)
	want := `
# HELP headgate_pods Pods by what became of them: matching, injected, governed, reporting, silent, unknown, up_to_date.
# TYPE headgate_pods gauge
headgate_pods{namespace="a",policy="x",state="governed"} 10
headgate_pods{namespace="a",policy="x",state="injected"} 11
headgate_pods{namespace="a",policy="x",state="matching"} 12
headgate_pods{namespace="a",policy="x",state="reporting"} 11
headgate_pods{namespace="a",policy="x",state="silent"} 1
headgate_pods{namespace="a",policy="x",state="unknown"} 0
headgate_pods{namespace="a",policy="x",state="up_to_date"} 11
`
	if err := testutil.CollectAndCompare(p, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}
