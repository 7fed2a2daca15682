// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/sidecar"
)

// TestD17AGatewayWithoutItsImageIsNamed: its app waits too, in spite of a webhook that fails open. Each owner is told once.
func TestD17AGatewayWithoutItsImageIsNamed(t *testing.T) {
	in := exampleInputs()
	healthy := Build(in, v1alpha1.RateLimitPolicyStatus{}, exampleNow).Status.Gateways
	var broken []string
	for i := range in.Pods {
		if p := &in.Pods[i]; p.Injected && p.Unrouted == "" && len(broken) < 2 {
			p.NoImage, p.Owner = true, "deployment/support"
			broken = append(broken, p.Name)
		}
	}
	r := Build(in, v1alpha1.RateLimitPolicyStatus{}, exampleNow)
	if got := r.Status.Gateways; got.Governed != healthy.Governed-2 || got.Injected != healthy.Injected || got.Matching != healthy.Matching {
		t.Errorf("counts %+v, were %+v", got, healthy)
	}
	named := 0
	for _, u := range r.Status.Gateways.Ungoverned {
		if strings.HasPrefix(u.Reason, "GatewayImageNotPulled: ") && len(u.Reason) < maxReason {
			named++
		}
	}
	told := 0
	for _, e := range r.Events {
		if e.Reason == v1alpha1.EventGatewayNotStarted && strings.Contains(e.Message, "imagePullSecrets") {
			told++
		}
	}
	if named != 2 || told != 1 || !strings.HasPrefix(r.Status.Summary.NextStep, broken[0]+": GatewayImageNotPulled") && conditionOf(r.Status, v1alpha1.ConditionThrottled) != "True" {
		t.Errorf("of %v %d are named, %d told; next step %q", broken, named, told, r.Status.Summary.NextStep)
	}
	if again := Build(in, r.Status, exampleNow); len(again.Events) > 0 && again.Events[0].Reason == v1alpha1.EventGatewayNotStarted {
		t.Errorf("told again: %+v", again.Events)
	}
}

func conditionOf(s v1alpha1.RateLimitPolicyStatus, kind string) string {
	for _, c := range s.Conditions {
		if c.Type == kind {
			return string(c.Status)
		}
	}
	return ""
}

// TestD17AGatewayThatDoesNotComeUpIsNamed: its image is there, and it does not start, or ends again and again.
func TestD17AGatewayThatDoesNotComeUpIsNamed(t *testing.T) {
	in := exampleInputs()
	in.Pods = []Pod{
		{Name: "web-1", Owner: "deployment/web", OptedIn: true, Injected: true, Contract: sidecar.ContractVersion, NotStarted: "CrashLoopBackOff"},
		{Name: "web-2", Owner: "deployment/web", OptedIn: true, Injected: true, Contract: sidecar.ContractVersion},
	}
	r := Build(in, v1alpha1.RateLimitPolicyStatus{}, exampleNow)
	got := r.Status.Gateways
	if len(got.Ungoverned) != 1 || got.Ungoverned[0].Name != "web-1" || !strings.HasPrefix(got.Ungoverned[0].Reason, "GatewayNotStarted: its container is in CrashLoopBackOff") ||
		len(got.Ungoverned[0].Reason) >= maxReason || got.Matching != 2 || got.Injected != 2 || got.Governed != 1 {
		t.Errorf("gateways %+v", got)
	}
	told := 0
	for _, e := range r.Events {
		if e.Reason == v1alpha1.EventGatewayNotStarted && strings.Contains(e.Message, "web-1 does not start: its container is in CrashLoopBackOff") {
			told++
		}
	}
	if told != 1 {
		t.Errorf("told %d times: %+v", told, r.Events)
	}
}

// TestD17AWebhookThatIsNeverCalledIsSaid, instead of a restart that would not help for ever.
func TestD17AWebhookThatIsNeverCalledIsSaid(t *testing.T) {
	in := exampleInputs()
	in.Pods = []Pod{{Name: "web", OptedIn: true, Owner: "deployment/web", Created: exampleNow}}
	for unseen, want := range map[bool]string{false: "or the webhook was not reached", true: "no admission call has been seen of any pod"} {
		in.WebhookUnseen = unseen
		got := Build(in, v1alpha1.RateLimitPolicyStatus{}, exampleNow).Status.Gateways.Ungoverned
		if len(got) != 1 || !strings.HasPrefix(got[0].Reason, "NotInjected: ") || !strings.Contains(got[0].Reason, want) || len(got[0].Reason) >= maxReason {
			t.Errorf("unseen %t: %+v", unseen, got)
		}
	}
	// What is known of a pod is said of it.
	in.Pods = []Pod{{Name: "a", OptedIn: true, Outcome: "SkippedHostNetwork: x"}, {Name: "b"}}
	got := Build(in, v1alpha1.RateLimitPolicyStatus{}, exampleNow).Status.Gateways.Ungoverned
	if len(got) != 2 || got[0].Reason != "SkippedHostNetwork: x" || !strings.HasPrefix(got[1].Reason, "NotOptedIn: ") {
		t.Errorf("%+v", got)
	}
}

// TestD17EachOwnerIsToldOfThoughReasonsAreAlike: what two Deployments have in common is told of both, once each; new pods
// of the same owners are no news, and another owner's are.
func TestD17EachOwnerIsToldOfThoughReasonsAreAlike(t *testing.T) {
	kinds := map[string]func(*Pod){
		v1alpha1.EventPodsNotInjected:   func(p *Pod) { p.Outcome = "SkippedHostNetwork: port 15080 is the node's" },
		v1alpha1.EventBypassSuspected:   func(p *Pod) { p.Injected, p.Unrouted = true, "app=ANTHROPIC_BASE_URL" },
		v1alpha1.EventGatewayNotStarted: func(p *Pod) { p.Injected, p.NoImage = true, true },
	}
	for event, change := range kinds {
		t.Run(event, func(t *testing.T) {
			in := exampleInputs()
			previous := v1alpha1.RateLimitPolicyStatus{}
			now := exampleNow
			// build has pods of these names, a-1 being deployment/a's, and returns those that Events were about.
			build := func(names ...string) (told []string) {
				in.Pods, now = nil, now.Add(time.Minute)
				for _, name := range names {
					owner, _, _ := strings.Cut(name, "-")
					p := Pod{Name: name, Owner: "deployment/" + owner, OptedIn: true, Created: exampleNow}
					change(&p)
					in.Pods = append(in.Pods, p)
				}
				r := Build(in, previous, now)
				previous = r.Status
				for _, e := range r.Events {
					if e.Reason == event {
						told = append(told, e.Pod)
					}
				}
				return told
			}
			for _, step := range []struct{ pods, told string }{
				{"a-1 a-2 b-1", "a-1 b-1"},
				{"a-1 a-2 b-1", ""},
				{"a-3 a-4 b-2", ""}, // a rollout
				{"a-3 b-2 c-1", "c-1"},
				{"c-1", ""},
				{"b-9 c-1", "b-9"}, // it was mended, and is back
			} {
				if got := strings.Join(build(strings.Fields(step.pods)...), " "); got != step.told {
					t.Errorf("pods %s: told of %q, want %q", step.pods, got, step.told)
				}
			}
		})
	}
}
