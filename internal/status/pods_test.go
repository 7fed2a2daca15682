// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/sidecar"
)

func TestReasonsOfUngovernedPods(t *testing.T) {
	t0 := exampleNow.Add(-time.Hour)
	injected := Pod{Name: "a", Created: t0, OptedIn: true, Injected: true, Contract: sidecar.ContractVersion}
	for name, tc := range map[string]struct {
		pod  Pod
		with []Pod
		want string
	}{
		"injection's own word": {Pod{OptedIn: true, Outcome: "SkippedHostNetwork: port 15080 is the node's"}, nil, "SkippedHostNetwork: port 15080 is the node's"},
		"older than injection": {Pod{OptedIn: true, Owner: "deployment/web", Created: t0.Add(-time.Minute)}, []Pod{injected}, "CreatedBeforeInjection: kubectl rollout restart deployment/web"},
		"missed":               {Pod{OptedIn: true, Owner: "daemonset/web", Created: t0.Add(time.Minute)}, []Pod{injected}, "MissedByWebhook: the API server did not reach it, or injection was asked for later; kubectl rollout restart daemonset/web"},
		"unknown":              {Pod{OptedIn: true, Created: t0}, nil, "NotInjected: it predates injection, or the webhook was not reached; delete the pod and create it again"},
		"job":                  {Pod{OptedIn: true, Owner: "job/nightly", OwnerJob: true, Created: t0.Add(-time.Minute)}, []Pod{injected}, "CreatedBeforeInjection: the next run of job/nightly is injected"},
		"bypass": {
			Pod{OptedIn: true, Injected: true, Unrouted: "app=ANTHROPIC_BASE_URL, side=ANTHROPIC_BASE_URL,third=ANTHROPIC_BASE_URL"},
			nil,
			"BaseURLSetByApp: container app sets ANTHROPIC_BASE_URL itself, container side sets ANTHROPIC_BASE_URL itself, and 1 more",
		},
		"bypass of a route that the policy lacks": {Pod{OptedIn: true, Injected: true, Unrouted: "app=OPENAI_BASE_URL"}, nil, ""},
		"may be set by a source": {
			Pod{OptedIn: true, Injected: true, RoutingUnknown: "app=ANTHROPIC_BASE_URL"},
			nil,
			"RoutingUnknown: container app may get ANTHROPIC_BASE_URL from a source of its own, and no call through the gateway is known",
		},
		"may be set for a route that the policy lacks": {Pod{OptedIn: true, Injected: true, RoutingUnknown: "app=OPENAI_BASE_URL"}, nil, ""},
		"bypass nobody can read":                       {Pod{OptedIn: true, Injected: true, Unrouted: "=,app,==,"}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			in := exampleInputs()
			tc.pod.Name = "x"
			in.Pods = slices.Concat(tc.with, []Pod{tc.pod})
			got := ""
			if u := judgePods(in, exampleNow).counts.Ungoverned; len(u) > 0 {
				got = u[0].Reason
			}
			if got != tc.want {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
}

// What cannot be known is said to be unknown: such a pod counts neither as governed nor as passed by, until
// a call of the policy comes through its gateway.
func TestUnknownRoutingIsNeitherGovernedNorABypass(t *testing.T) {
	build := func(called time.Time) Result {
		in := exampleInputs()
		quiet(&in)
		in.Pods = []Pod{{Name: "ingest-0", OptedIn: true, Injected: true, Contract: sidecar.ContractVersion, RoutingUnknown: "app=ANTHROPIC_BASE_URL"}}
		in.Figures.Gateways = in.Figures.Gateways[:1]
		in.Figures.Gateways[0].LastPolicyCall = called
		return Build(in, examplePrevious(), exampleNow)
	}
	before := build(time.Time{})
	n, ready := before.Status.Gateways, before.Status.Conditions[2]
	if n.Governed != 0 || n.Unknown != 1 || n.Injected != 1 || len(n.Ungoverned) != 1 || len(before.Events) != 0 {
		t.Errorf("before a call: %+v, events %v", n, before.Events)
	}
	if ready.Status != "Unknown" || ready.Reason != "RoutingUnknown" || strings.Contains(before.Status.Summary.NextStep, "remove") {
		t.Errorf("before a call: %+v, %q", ready, before.Status.Summary.NextStep)
	}
	after := build(exampleNow.Add(-time.Minute)).Status
	if n := after.Gateways; n.Governed != 1 || n.Unknown != 0 || after.Conditions[2].Reason != "AllGoverned" {
		t.Errorf("after a call: %+v, %+v", n, after.Conditions[2])
	}
}

// E13: after an upgrade the pods that still run what an older release injected are counted out of upToDate,
// by their annotation or by what their gateway says, and stay governed; nothing restarts them.
//
// Fault E13: Upgrading the operator restarted every app, or left old sidecars that nobody knew of.
// Headgate: Running pods are left alone, those with an older contract are counted and their owners named, and newer
// managers go on speaking with older gateways.
func TestE13OlderContractsAreCountedOut(t *testing.T) {
	for name, change := range map[string]func(in *Inputs){
		"by the annotation":       func(in *Inputs) { in.Pods[1].Contract = "0" },
		"without one":             func(in *Inputs) { in.Pods[1].Contract = "" },
		"by the gateway's word":   func(in *Inputs) { in.Figures.Gateways[0].Contract = "0" },
		"by both, it is one less": func(in *Inputs) { in.Pods[1].Contract, in.Figures.Gateways[0].Contract = "0", "0" },
	} {
		t.Run(name, func(t *testing.T) {
			in := exampleInputs()
			for i := range in.Figures.Gateways {
				in.Figures.Gateways[i].Contract = sidecar.ContractVersion
			}
			before := Build(in, examplePrevious(), exampleNow).Status
			change(&in)
			after := Build(in, before, exampleNow.Add(time.Minute))
			if b, a := before.Gateways, after.Status.Gateways; b.UpToDate != 11 || a.UpToDate != 10 || a.Governed != b.Governed {
				t.Errorf("up to date %d, then %d; governed %d, then %d", b.UpToDate, a.UpToDate, b.Governed, a.Governed)
			}
			if got := after.Status.Conditions[2].Message; !strings.Contains(got, "1 pod was injected by another release, such as ingest-0: kubectl rollout restart statefulset/ingest.") {
				t.Errorf("Ready says %q", got)
			}
			if !Due(before, after, exampleNow.Add(time.Minute)) {
				t.Error("not worth a write")
			}
		})
	}
}

// Fifty replicas of one owner do not hide the single pod of another.
func TestEveryOwnerIsNamed(t *testing.T) {
	in := exampleInputs()
	in.Pods = nil
	for i := range 50 {
		in.Pods = append(in.Pods, Pod{Name: fmt.Sprintf("aaa-%02d", i), Owner: "deployment/aaa", OptedIn: true})
	}
	in.Pods = append(in.Pods, Pod{Name: "zzz-0", Owner: "statefulset/zzz", OptedIn: true})
	got := judgePods(in, exampleNow).counts.Ungoverned
	if len(got) != MaxUngoverned || got[MaxUngoverned-1].Name != "zzz-0" || got[0].Name != "aaa-00" {
		t.Errorf("%v", got)
	}
}

func TestTruncateKeepsRunesWhole(t *testing.T) {
	for _, s := range []string{"", "abc", strings.Repeat("é", 200), strings.Repeat("日本", 100)} {
		got := truncate(s, 64)
		if len(got) > 64 || strings.ContainsRune(got, '\uFFFD') {
			t.Errorf("truncate gave %q, %d bytes", got, len(got))
		}
	}
}
