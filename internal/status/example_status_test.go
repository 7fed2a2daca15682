// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/figures"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/sidecar"
)

// The example of a tenant throttled at 14:22: chat 133 calls a minute of 2,000 tokens, ingest 2.67 of
// 60,000, on 400k input tokens a minute of which bulk has 40 %.
var exampleNow = time.Date(2026, 12, 3, 14, 22, 0, 0, time.UTC)

func exampleRoute() plan.Route {
	return plan.Route{
		Name: "anthropic", Dialect: "Anthropic", BaseURL: "https://api.anthropic.com",
		Limits: []plan.Limit{
			{Name: "requests", Budget: plan.Requests, Amount: 4000, WindowSeconds: 60, Burst: 4000},
			{Name: "input-tokens", Budget: plan.InputTokens, Amount: 400_000, WindowSeconds: 60, Burst: 400_000},
			{Name: "output-tokens", Budget: plan.OutputTokens, Amount: 80_000, WindowSeconds: 60, Burst: 80_000},
		},
		Lanes: []plan.Lane{
			{Name: "bulk", MinInputTokens: 20_000, LargestCallTokens: 60_000, SharePermille: 400, MaxDepth: 32, MaxWaitMillis: 50_000},
			{Name: "chat", SharePermille: 600, MaxDepth: 256, MaxWaitMillis: 50_000},
			{Name: "default", MaxDepth: 256, MaxWaitMillis: 50_000},
		},
	}
}

func examplePods() []Pod {
	created := exampleNow.Add(-48 * time.Hour)
	pods := []Pod{
		{Name: "support-6d9f4c7b5-x2x4k", Owner: "deployment/support", Created: created.Add(-time.Hour), OptedIn: true},
		{Name: "ingest-0", Owner: "statefulset/ingest", Created: created, OptedIn: true, Injected: true, Contract: sidecar.ContractVersion},
		{Name: "ingest-1", Owner: "statefulset/ingest", Created: created, OptedIn: true, Injected: true, Contract: sidecar.ContractVersion, Unrouted: "app=ANTHROPIC_BASE_URL"},
	}
	for i := range 9 {
		name := fmt.Sprintf("support-6d9f4c7b5-%c%dq2p", 'a'+i, i)
		switch i {
		case 0:
			name = "support-6d9f4c7b5-8kq2p"
		case 1:
			name = "support-6d9f4c7b5-m7w5r"
		}
		pods = append(pods, Pod{Name: name, Owner: "deployment/support", Created: created, OptedIn: true, Injected: true, Contract: sidecar.ContractVersion})
	}
	return pods
}

func exampleFigures(pods []Pod) figures.PolicyFigures {
	f := figures.PolicyFigures{
		At: exampleNow, Over: figures.Window,
		Limits: []figures.LimitFigures{
			{
				Provider: "anthropic", Name: "input-tokens", Binding: true, Remaining: 38_000, HeldForLanes: 37_333,
				Offered: figures.NewFlow(5*426_667, figures.Window), Used: figures.NewFlow(5*400_000, figures.Window),
				ProviderKnown: true, ProviderRemaining: 1_900_000, ProviderLimit: 2_000_000,
				UsedBy: []figures.PodShare{
					{Pod: "ingest-0", Fraction: 0.40},
					{Pod: "support-6d9f4c7b5-8kq2p", Fraction: 0.08},
					{Pod: "support-6d9f4c7b5-m7w5r", Fraction: 0.08},
				},
			},
			{Provider: "anthropic", Name: "output-tokens", Remaining: 78_000, Used: figures.NewFlow(5*37_000, figures.Window)},
			{Provider: "anthropic", Name: "requests", Remaining: 3998, Used: figures.NewFlow(613, figures.Window)},
		},
		Lanes: []figures.LaneFigures{
			{Provider: "anthropic", Name: "bulk", Offered: 13, Sent: 13, Queued: 1, QueuedOldest: 14 * time.Second, WaitMedian: 20 * time.Second, WaitWorst: 23 * time.Second},
			{Provider: "anthropic", Name: "chat", Offered: 667, Sent: 600, Refused: 67, RefusedMostlyFor: "Deadline", Queued: 56, QueuedOldest: 28 * time.Second, WaitMedian: 26600 * time.Millisecond, WaitWorst: 28 * time.Second},
		},
		Providers: []figures.ProviderFigures{{Name: "anthropic", Calls: 613, Sends: 613, State: "Healthy"}},
	}
	silent := true
	for _, p := range pods {
		if !p.Injected {
			continue
		}
		g := figures.GatewayFigures{Pod: p.Name, Generation: 7, Since: p.Created, LastReport: exampleNow, LastCall: exampleNow}
		if p.Owner == "deployment/support" && silent {
			g.LastCall, silent = exampleNow.Add(-2*time.Hour), false
		}
		f.Gateways = append(f.Gateways, g)
	}
	return f
}

func exampleInputs() Inputs {
	pods := examplePods()
	return Inputs{
		Namespace: "team-support", Name: "support", Generation: 7, Mode: v1alpha1.ModeEnforce, Providers: []string{"anthropic"},
		Accepted:     Outcome{Reason: v1alpha1.ReasonValid},
		Compiled:     &plan.Policy{Name: "support", Generation: 7, Routes: []plan.Route{exampleRoute()}},
		PlanRevision: 1, Pods: pods, Figures: exampleFigures(pods),
	}
}

// examplePrevious has each condition's last transition.
func examplePrevious() v1alpha1.RateLimitPolicyStatus {
	at := func(s string) metav1.Time {
		t, err := time.Parse(time.RFC3339, s)
		if err != nil {
			panic(err)
		}
		return metav1.NewTime(t)
	}
	return v1alpha1.RateLimitPolicyStatus{ObservedGeneration: 7, Conditions: []metav1.Condition{
		{Type: "Accepted", Status: "True", Reason: "Valid", LastTransitionTime: at("2026-10-23T08:12:40Z")},
		{Type: "Programmed", Status: "True", Reason: "Acknowledged", LastTransitionTime: at("2026-12-03T11:05:02Z")},
		{Type: "Ready", Status: "True", Reason: "AllGoverned", LastTransitionTime: at("2026-12-03T11:05:02Z")},
		{Type: "Degraded", Status: "False", Reason: "Connected", LastTransitionTime: at("2026-12-03T11:05:02Z")},
		{Type: "Throttled", Status: "True", Reason: "PolicyLimit", LastTransitionTime: at("2026-12-03T14:09:00Z")},
	}}
}
