// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/figures"
	"github.com/headgate-dev/headgate/internal/ledger"
	"github.com/headgate-dev/headgate/internal/plan"
)

var update = flag.Bool("update", false, "rewrite golden files")

// withExample changes the example's inputs.
func withExample(change func(in *Inputs)) func() Inputs {
	return func() Inputs {
		in := exampleInputs()
		change(&in)
		return in
	}
}

func quiet(in *Inputs) {
	for i := range in.Figures.Limits {
		in.Figures.Limits[i].Binding = false
	}
	for i := range in.Figures.Lanes {
		l := &in.Figures.Lanes[i]
		l.Refused, l.Queued, l.QueuedOldest, l.WaitMedian, l.WaitWorst = 0, 0, 0, 40*time.Millisecond, time.Second
	}
}

// silentBefore has no gateway that reports.
func silentBefore() v1alpha1.RateLimitPolicyStatus {
	p := examplePrevious()
	p.Conditions[1].Reason, p.Conditions[1].Status = v1alpha1.ReasonNoReports, metav1.ConditionUnknown
	p.Gateways.Injected = 11
	return p
}

// ofAccount makes the input tokens those of an account that is shared: 2M a minute, of which the namespace is sure of a
// tenth and has a fifth now.
func ofAccount(in *Inputs) {
	r := &in.Compiled.Routes[0]
	r.Account = "acme"
	r.Limits[1] = plan.Limit{
		Name: "acme:input-tokens", Budget: plan.InputTokens, Amount: 2_000_000, Burst: 2_000_000, WindowSeconds: 60, Account: "acme", MaxGateways: 200,
	}
	in.Figures.Limits[0].Name = "acme:input-tokens"
	in.Guaranteed = map[string]float64{"acme": 10}
	in.Budgets = map[string]ledger.RouteFigures{"anthropic": {
		Account: "acme",
		Limits: []ledger.LimitFigures{
			{Name: "requests", Guaranteed: 4000, Share: 4000, Used: 123},
			{Name: "acme:input-tokens", Account: "acme", Guaranteed: 200_000, Share: 402_000, Used: 400_000, Borrowed: 200_000, Waiting: 27_000},
		},
		Lanes:   []ledger.LaneFigures{{Name: "bulk", Waiting: 1, NextBulk: 21400 * time.Millisecond, Binding: "acme:input-tokens", Known: true}, {Name: "chat"}},
		Holders: 11,
	}}
}

var goldenCases = map[string]struct {
	inputs   func() Inputs
	previous func() v1alpha1.RateLimitPolicyStatus
}{
	"throttled by the policy": {inputs: exampleInputs, previous: examplePrevious},
	"new policy, no pods": {inputs: withExample(func(in *Inputs) {
		in.Pods, in.Figures = nil, figures.PolicyFigures{}
	})},
	"no pod injected": {inputs: withExample(func(in *Inputs) {
		in.Pods, in.Figures = nil, figures.PolicyFigures{}
		for i := range 9 {
			in.Pods = append(in.Pods, Pod{Name: fmt.Sprintf("search-%d", i), Owner: "deployment/search"})
		}
	})},
	"invalid": {inputs: withExample(func(in *Inputs) {
		in.Compiled, in.Accepted = nil, Outcome{v1alpha1.ReasonInvalid, "spec.providers[0].baseURL: Required value: Generic has no default."}
	})},
	"a first minute, no lanes": {inputs: withExample(func(in *Inputs) {
		quiet(in)
		in.Pods = in.Pods[1:2]
		in.Compiled.Routes[0].Lanes = in.Compiled.Routes[0].Lanes[2:]
		in.Compiled.Routes[0].Lanes[0].SharePermille = 1000
		in.Figures.Over, in.Figures.Gateways = 61*time.Second, in.Figures.Gateways[:1]
		in.Figures.Limits[0].Offered = figures.NewFlow(610_000, 61*time.Second)
		in.Figures.Limits[0].Used = figures.NewFlow(400_000, 61*time.Second)
		in.Figures.Limits[0].Binding, in.Figures.Limits[0].UsedBy = true, []figures.PodShare{{Pod: "ingest-0", Fraction: 1}}
		in.Figures.Lanes = []figures.LaneFigures{{Provider: "anthropic", Name: "default", Offered: 300, Sent: 200, Queued: 100, QueuedOldest: 20 * time.Second, WaitMedian: 10 * time.Second, WaitWorst: 20 * time.Second}}
	})},
	"quiet": {inputs: withExample(quiet), previous: examplePrevious},
	"refused by the provider": {inputs: withExample(func(in *Inputs) {
		quiet(in)
		p := &in.Figures.Providers[0]
		p.TooManyRequests, p.State = 25, "Throttling"
		in.Figures.Limits[0].ProviderLimit = 300_000
	})},
	"used elsewhere": {inputs: withExample(func(in *Inputs) {
		quiet(in)
		p := &in.Figures.Providers[0]
		p.TooManyRequests, p.State = 61, "Throttling"
		l := &in.Figures.Limits[0]
		l.Used, l.Offered = figures.NewFlow(5*130_000, figures.Window), figures.NewFlow(5*140_000, figures.Window)
		l.ProviderRemaining, l.ProviderLimit, l.Effective, l.Remaining = 3_000, 400_000, 0.7225, 390_000
	})},
	"held below the provider's limit": {inputs: withExample(func(in *Inputs) {
		quiet(in)
		l := &in.Figures.Limits[0]
		l.ProviderBinding, l.ProviderRemaining, l.ProviderLimit, l.OutsidersPerSecond = true, 900, 300_000, 100
		l.Used, l.Offered = figures.NewFlow(5*299_000, figures.Window), figures.NewFlow(5*310_000, figures.Window)
		in.Figures.Lanes[1].Queued, in.Figures.Lanes[1].QueuedOldest = 12, 9*time.Second
	})},
	"lanes in order, a queue that fills": {inputs: withExample(func(in *Inputs) {
		lanes := in.Compiled.Routes[0].Lanes
		lanes[0].Priority, lanes[1].Priority = -10, 100
		in.Figures.Lanes[1].Growing, in.Figures.Lanes[1].FullIn = true, 47*time.Second
		in.Figures.Lanes[0].Refused, in.Figures.Lanes[0].RefusedMostlyFor = 4, "Displaced"
	}), previous: examplePrevious},
	"failed over and deferred": {inputs: withExample(func(in *Inputs) {
		quiet(in)
		r := &in.Compiled.Routes[0]
		r.Throttle.OnCeilingExceeded, r.Throttle.FailoverTo = plan.Failover, "anthropic-eu"
		r.Deadline.OnExceeded, r.Deferred = plan.Defer, &plan.Deferred{MaxAgeSeconds: 60}
		eu := exampleRoute()
		eu.Name, eu.Lanes, eu.Limits = "anthropic-eu", eu.Lanes[2:], eu.Limits[:1]
		in.Compiled.Routes = append(in.Compiled.Routes, eu)
		p := &in.Figures.Providers[0]
		p.TooManyRequests, p.State, p.FailedOver = 40, "Throttling", 37
		p.Deferred, p.DeferredWaiting, p.DeadLetters = 12, 5, 1
	})},
	"calls given up": {inputs: withExample(func(in *Inputs) {
		quiet(in)
		in.Pods = in.Pods[1:2]
		in.Figures.Gateways = in.Figures.Gateways[:1]
		in.Figures.Providers[0].DeadLetters, in.Figures.Providers[0].Deferred = 3, 3
	}), previous: examplePrevious},
	"quota exhausted": {inputs: withExample(func(in *Inputs) {
		quiet(in)
		p := &in.Figures.Providers[0]
		p.TooManyRequests, p.State, p.StateMessage = 4, "QuotaExhausted", "Your credit balance is too low."
		p.QuotaResetAt = exampleNow.Add(13 * time.Minute)
	})},
	"observe only": {inputs: withExample(func(in *Inputs) {
		quiet(in)
		in.Mode, in.Compiled.Routes[0].Observe = v1alpha1.ModeObserve, true
		in.Figures.Providers[0].TooManyRequests = 20
		in.Figures.Lanes[1].WouldHaveRefused = 67
	})},
	"provider overloaded": {inputs: withExample(func(in *Inputs) {
		quiet(in)
		p := &in.Figures.Providers[0]
		p.Overloads, p.State = 400, "Overloaded"
	})},
	"plan rejected": {inputs: withExample(func(in *Inputs) {
		quiet(in)
		in.Rejections = []Rejection{{Pod: "ingest-0", Revision: 1, Message: "version 2 is not known"}}
	})},
	"disconnected": {inputs: withExample(func(in *Inputs) { in.Figures = figures.PolicyFigures{} }), previous: silentBefore},
	"calls too large and retried twice": {inputs: withExample(func(in *Inputs) {
		p := &in.Figures.Providers[0]
		p.TooLarge, p.LargestTooLarge, p.StackedRetries = 3, 520_000, 41
		p.StackedMostlyBy = "anthropic-go"
	}), previous: examplePrevious},
	"held by the account's share": {inputs: withExample(ofAccount), previous: examplePrevious},
	"all of the account": {inputs: withExample(func(in *Inputs) {
		ofAccount(in)
		b := in.Budgets["anthropic"]
		b.Limits[1].Share = 2_000_000
		in.Guaranteed = nil
	}), previous: examplePrevious},
	"of an account, quiet": {inputs: withExample(func(in *Inputs) {
		ofAccount(in)
		quiet(in)
		in.Figures.Limits[0].Used, in.Figures.Limits[0].Offered = figures.NewFlow(5*120_000, figures.Window), figures.NewFlow(5*120_000, figures.Window)
		in.Budgets["anthropic"].Limits[1].Borrowed = 0
	}), previous: examplePrevious},
	"an account that is learned": {inputs: withExample(func(in *Inputs) {
		quiet(in)
		r := &in.Compiled.Routes[0]
		r.Limits = []plan.Limit{
			{Name: "acme:input-tokens", Budget: plan.InputTokens, Amount: plan.MaxAmount, Burst: plan.MaxAmount, WindowSeconds: 60, Watch: true},
		}
		in.Figures.Limits = in.Figures.Limits[:1]
		in.Figures.Limits[0].Name = "acme:input-tokens"
	}), previous: examplePrevious},
	"not allowed by the account": {inputs: withExample(func(in *Inputs) {
		in.Accepted = Outcome{v1alpha1.ReasonAccountNotAllowed, "spec.providers[0].accountRef.name: Forbidden: ProviderAccount acme does not allow this namespace."}
		r := &in.Compiled.Routes[0]
		r.Limits = append([]plan.Limit{{Name: "acme:not-allowed", Budget: plan.Requests, WindowSeconds: 60}}, r.Limits...)
		for i := range in.Figures.Limits {
			in.Figures.Limits[i].Binding = false
		}
		in.Figures.Limits = append(in.Figures.Limits, figures.LimitFigures{Provider: "anthropic", Name: "acme:not-allowed", Binding: true, Offered: figures.NewFlow(613, figures.Window)})
	})},
	"the account is gone": {inputs: withExample(func(in *Inputs) {
		quiet(in)
		in.Accepted = Outcome{v1alpha1.ReasonAccountNotFound, "spec.providers[0].accountRef.name: Invalid value: \"acme\": there is no ProviderAccount of that name, or it is not accepted."}
	})},
	"of an account, refused by the provider": {inputs: withExample(func(in *Inputs) {
		ofAccount(in)
		quiet(in)
		in.Figures.Providers[0].TooManyRequests, in.Figures.Providers[0].State = 61, "Throttling"
		l := &in.Figures.Limits[0]
		l.ProviderRemaining, l.ProviderLimit, l.OutsidersPerSecond = 3000, 2_000_000, 20_000 // other namespaces, not outsiders
	}), previous: examplePrevious},
	"budget store lost": {inputs: withExample(func(in *Inputs) {
		quiet(in)
		in.StoreLost = exampleNow.Add(-20 * time.Minute)
	}), previous: examplePrevious},
	"disconnected, other outage modes": {inputs: withExample(func(in *Inputs) {
		in.Figures = figures.PolicyFigures{}
		open := exampleRoute()
		open.Name, open.Outage = "openai", plan.Open
		in.Compiled.Routes[0].Outage = plan.LastGrant
		in.Compiled.Routes = append(in.Compiled.Routes, open)
	}), previous: silentBefore},
	"older contract": {inputs: withExample(func(in *Inputs) {
		quiet(in)
		in.Pods = in.Pods[1:2]
		in.Pods[0].Contract = "0"
	}), previous: examplePrevious},
}

func TestStatusReadsAsDesigned(t *testing.T) {
	for name, tc := range goldenCases {
		t.Run(name, func(t *testing.T) {
			var previous v1alpha1.RateLimitPolicyStatus
			if tc.previous != nil {
				previous = tc.previous()
			}
			got := Build(tc.inputs(), previous, exampleNow)
			out, err := yaml.Marshal(map[string]any{"status": got.Status, "events": got.Events})
			if err != nil {
				t.Fatal(err)
			}
			golden(t, strings.NewReplacer(" ", "-", ",", "", "'", "").Replace(name)+".out.yaml", out)
		})
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// The figures of the design's example, not only whatever the golden file holds.
func TestExampleHasTheDesignsFigures(t *testing.T) {
	s := Build(exampleInputs(), examplePrevious(), exampleNow).Status
	got := map[string]any{
		"ungoverned": s.Gateways.Ungoverned, "limit": s.Limits[0], "summary": s.Summary,
		"governed": s.Gateways.Governed, "injected": s.Gateways.Injected, "matching": s.Gateways.Matching,
		"reporting": s.Gateways.Reporting, "silent": s.Gateways.Silent, "upToDate": s.Gateways.UpToDate,
		"throttled": s.Conditions[4].Message, "lanes": s.Lanes,
	}
	at := metav1.NewTime(exampleNow)
	want := map[string]any{
		"ungoverned": []v1alpha1.UngovernedPod{
			{Name: "ingest-1", Reason: "BaseURLSetByApp: container app sets ANTHROPIC_BASE_URL itself"},
			{Name: "support-6d9f4c7b5-x2x4k", Reason: "CreatedBeforeInjection: kubectl rollout restart deployment/support"},
		},
		"limit": v1alpha1.LimitStatus{
			Name: "anthropic/input-tokens", Offered: "427k", Per: "Minute", Remaining: "38k", RemainingAtProvider: "1900k",
			RemainingHeldForLanes: "37k", State: "Binding", Total: "400k", TotalAtProvider: "2M", Used: "400k",
			UsedBy: []string{"ingest-0 40%", "support-6d9f4c7b5-8kq2p 8%", "support-6d9f4c7b5-m7w5r 8%"},
		},
		"summary": v1alpha1.Summary{
			BindingLimit: "anthropic/input-tokens", FiguresAt: &at, FiguresOver: "5m", Mode: "Enforce",
			NextStep: "Raise anthropic/input-tokens to 430k or more (1900k left at the provider), or cut load: ingest-0 uses 40%. Retrying in the app does not help.",
			Pods:     "10/12", Providers: "anthropic", RefusedByPolicy: "9.9%", TooManyRequests: "0.0%", Wait: "27s",
		},
		"governed": int32(10), "injected": int32(11), "matching": int32(12), "reporting": int32(11), "silent": int32(1), "upToDate": int32(11),
		"throttled": "anthropic/input-tokens: 427k/min offered, this policy allows 400k/min. The provider refused 0 of 613 sends (429s: 0.0%).",
		"lanes": []v1alpha1.LaneStatus{
			{Name: "anthropic/bulk", Offered: 13, Queued: 1, QueuedOldest: "14s", Sent: 13, Share: "160k per Minute", WaitForLargest: "23s", WaitMedian: "20s", WaitWorst: "23s"},
			{Name: "anthropic/chat", Offered: 667, Queued: 56, QueuedOldest: "28s", RefusedByPolicy: 67, RefusedMostlyFor: "Deadline", Sent: 600, Share: "240k per Minute", WaitMedian: "27s", WaitWorst: "28s"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestConditionsAlwaysAllPresentInOrder(t *testing.T) {
	for name, tc := range goldenCases {
		var previous v1alpha1.RateLimitPolicyStatus
		s := Build(tc.inputs(), previous, exampleNow).Status
		var kinds []string
		for _, c := range s.Conditions {
			kinds = append(kinds, c.Type)
			if c.ObservedGeneration != 7 || c.LastTransitionTime.IsZero() || c.Reason == "" || c.Message == "" {
				t.Errorf("%s: incomplete condition %+v", name, c)
			}
		}
		if diff := cmp.Diff([]string{"Accepted", "Programmed", "Ready", "Degraded", "Throttled"}, kinds); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestTransitionTimeMovesWithStatusOnly(t *testing.T) {
	previous := examplePrevious()
	s := Build(exampleInputs(), previous, exampleNow).Status
	if got := s.Conditions[2]; got.Reason != "PartlyGoverned" || !got.LastTransitionTime.Equal(&previous.Conditions[2].LastTransitionTime) {
		t.Errorf("Ready changed its reason only, and has %v", got.LastTransitionTime)
	}
	s = Build(withExample(quiet)(), previous, exampleNow).Status
	if got := s.Conditions[4]; got.Status != "False" || !got.LastTransitionTime.Time.Equal(exampleNow) {
		t.Errorf("Throttled changed at %v to %s", got.LastTransitionTime, got.Status)
	}
}

// Five thousand pods that come and go, a policy as large as the schema allows, and long names: still below
// MaxBytes, with conditions, counts and summary whole.
func TestStatusStaysSmallAtFiveThousandPods(t *testing.T) {
	in := exampleInputs()
	in.Pods, in.Figures, in.Compiled.Routes = nil, figures.PolicyFigures{Over: figures.Window}, nil
	long := strings.Repeat("n", 200)
	for i := range 5000 {
		in.Pods = append(in.Pods, Pod{Name: fmt.Sprintf("%s-%04d", long, i), Owner: fmt.Sprintf("deployment/%s-%d", long, i%700), OptedIn: true, Injected: i%3 == 0})
	}
	for p := range 16 {
		r := exampleRoute()
		r.Name, r.Limits, r.Lanes = fmt.Sprintf("p%d%s", p, long[:30]), nil, nil
		for l := range 16 {
			name := fmt.Sprintf("l%d%s", l, long[:30])
			r.Limits = append(r.Limits, plan.Limit{Name: name, Budget: plan.InputTokens, Amount: 400_000, WindowSeconds: 60, Burst: 400_000})
			in.Figures.Limits = append(in.Figures.Limits, figures.LimitFigures{
				Provider: r.Name, Name: name, Binding: true, HeldForLanes: 1e5, Remaining: 1e5, ProviderKnown: true, ProviderLimit: 1e6,
				UsedBy: []figures.PodShare{{Pod: long + long[:53], Fraction: 0.5}, {Pod: long, Fraction: 0.2}, {Pod: long, Fraction: 0.1}},
			})
		}
		for l := range 9 {
			name := fmt.Sprintf("a%d%s", l, long[:30])
			r.Lanes = append(r.Lanes, plan.Lane{Name: name, SharePermille: 100, LargestCallTokens: 1000})
			in.Figures.Lanes = append(in.Figures.Lanes, figures.LaneFigures{Provider: r.Name, Name: name, Offered: 1e9, Sent: 1e9, Refused: 5, RefusedMostlyFor: "QueueExpired", WaitMedian: time.Second})
		}
		in.Compiled.Routes = append(in.Compiled.Routes, r)
		in.Figures.Providers = append(in.Figures.Providers, figures.ProviderFigures{Name: r.Name, Sends: 1e9, State: "Throttling", StateMessage: long + long})
	}
	s := Build(in, v1alpha1.RateLimitPolicyStatus{}, exampleNow).Status
	if got := size(&s); got >= MaxBytes {
		t.Errorf("status has %d bytes", got)
	}
	if len(s.Conditions) != 5 || s.Summary.Pods == "" || len(s.Gateways.Ungoverned) != MaxUngoverned || len(s.Limits) == 0 {
		t.Errorf("pruned what must stay: %d conditions, %q, %d ungoverned, %d limits", len(s.Conditions), s.Summary.Pods, len(s.Gateways.Ungoverned), len(s.Limits))
	}
}

// A new leader that has heard of few gateways yet neither reports an outage nor forgets the figures.
func TestChangeOfLeaderIsNotAnOutage(t *testing.T) {
	before := Build(exampleInputs(), examplePrevious(), exampleNow)
	in := exampleInputs()
	in.Learning = true
	in.Figures.Gateways = in.Figures.Gateways[:2]
	in.Figures.Limits, in.Figures.Lanes, in.Figures.Providers = nil, nil, nil
	got := Build(in, before.Status, exampleNow.Add(40*time.Second))
	if diff := cmp.Diff(before.Status, got.Status); diff != "" || len(got.Events) > 0 {
		t.Errorf("%v %s", got.Events, diff)
	}
	in.Learning = false
	if got := Build(in, before.Status, exampleNow.Add(40*time.Second)).Status; got.Gateways.Reporting != 2 {
		t.Errorf("%d report after learning", got.Gateways.Reporting)
	}
}

// Pods that started while no manager was there are told of by the next leader, once, though it has heard of few
// gateways yet.
func TestD17NewLeaderTellsOfPodsThatWereMissed(t *testing.T) {
	before := Build(exampleInputs(), examplePrevious(), exampleNow)
	in := exampleInputs()
	in.Learning = true
	in.Figures.Gateways = in.Figures.Gateways[:2]
	in.Pods = append(in.Pods, Pod{Name: "missed-0", Owner: "deployment/missed", OptedIn: true, Created: exampleNow})
	got := Build(in, before.Status, exampleNow.Add(40*time.Second))
	if len(got.Events) != 1 || got.Events[0].Reason != v1alpha1.EventPodsNotInjected || got.Events[0].Pod != "missed-0" {
		t.Errorf("events %+v", got.Events)
	}
	in.Learning = false
	if again := Build(in, got.Status, exampleNow.Add(80*time.Second)); len(again.Events) != 0 {
		t.Errorf("told again: %+v", again.Events)
	}
}
