// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/v1alpha1"
)

// overloadShare of sends answered with an overload is worth a condition.
const overloadShare = 0.05

// degraded says whether something outside the policy limits it. Silence counts from the moment Programmed
// became unknown for it, which is in the status itself and so survives a restart of the manager.
func degraded(in Inputs, previous v1alpha1.RateLimitPolicyStatus, pods podView, views []providerView, now time.Time) finding {
	n := pods.counts
	if n.Injected > 0 && n.Reporting == 0 {
		return silence(previous, n, views, now)
	}
	if !in.StoreLost.IsZero() && n.Injected > 0 {
		return finding{metav1.ConditionTrue, v1alpha1.ReasonBudgetStoreLost, storeLost(in.StoreLost, views)}
	}
	for _, v := range views {
		overloads := float64(v.seen.Overloads)
		if v.state() == v1alpha1.ProviderOverloaded || (overloads > 0 && overloads >= overloadShare*float64(v.seen.Sends)) {
			return finding{
				metav1.ConditionTrue, v1alpha1.ReasonProviderOverloaded,
				fmt.Sprintf("%s answered %d of %d sends in %s with an overload.", v.name, v.seen.Overloads, v.seen.Sends, span(in.Figures.Over)),
			}
		}
	}
	switch {
	case n.Injected == 0:
		return finding{metav1.ConditionFalse, v1alpha1.ReasonConnected, "No pod has a gateway, so there is none to hear from."}
	case n.Reporting < n.Injected:
		return finding{
			metav1.ConditionFalse, v1alpha1.ReasonConnected,
			fmt.Sprintf("Budget shared; %d of %s report. Of those that do not, %s.", n.Reporting, count(int(n.Injected), "gateway"), outageWords(views)),
		}
	}
	return finding{metav1.ConditionFalse, v1alpha1.ReasonConnected, "Budget shared, reports fresh."}
}

func silence(previous v1alpha1.RateLimitPolicyStatus, n v1alpha1.GatewayCounts, views []providerView, now time.Time) finding {
	if since := silentSince(previous); !since.IsZero() && now.Sub(since) >= DisconnectedAfter {
		return finding{
			metav1.ConditionTrue, v1alpha1.ReasonDisconnected,
			fmt.Sprintf("None of %s reports; until it does, %s.", count(int(n.Injected), "gateway"), outageWords(views)),
		}
	}
	return finding{metav1.ConditionUnknown, v1alpha1.ReasonUnknown, "No gateway reports yet."}
}

// silentSince is when the gateways' silence was first written down.
func silentSince(previous v1alpha1.RateLimitPolicyStatus) time.Time {
	c := find(previous.Conditions, v1alpha1.ConditionProgrammed)
	if c == nil || c.Reason != v1alpha1.ReasonNoReports || c.Status != metav1.ConditionUnknown {
		return time.Time{}
	}
	return c.LastTransitionTime.Time
}
