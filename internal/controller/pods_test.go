// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/sidecar"
	_ "github.com/headgate-dev/headgate/internal/testing/seed"
)

func owned(kind, name string, labels map[string]string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: "p", Labels: labels, OwnerReferences: []metav1.OwnerReference{{Kind: kind, Name: name, Controller: ptr.To(true)}},
	}}
}

// What status is made of is the same of a stripped pod, and the rest is gone.
func TestStrippedPodKeepsWhatIsRead(t *testing.T) {
	pod := owned("StatefulSet", "ingest", map[string]string{"app": "x", "headgate.dev/inject": "enabled"})
	pod.UID, pod.ResourceVersion, pod.Status.Phase = "u", "7", corev1.PodRunning
	pod.Annotations = map[string]string{
		sidecar.AnnotationContract: "1", sidecar.AnnotationUnrouted: "app=X", sidecar.AnnotationRoutingUnknown: "app=Y",
		"kubectl.kubernetes.io/last-applied-configuration": "long",
	}
	pod.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "m"}}
	pod.Spec = corev1.PodSpec{
		InitContainers: []corev1.Container{{Name: sidecar.ContainerName, Image: "i", Env: []corev1.EnvVar{{Name: "SECRET", Value: "s"}}}},
		Containers:     []corev1.Container{{Name: "app", Image: "i", Env: []corev1.EnvVar{{Name: "SECRET", Value: "s"}}}},
		Volumes:        []corev1.Volume{{Name: "v"}},
	}
	pod.Status.InitContainerStatuses = []corev1.ContainerStatus{
		{Name: "other", Image: "i"},
		{Name: sidecar.ContainerName, Image: "i", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "long"}}},
	}
	want := podFacts(pod, false)
	if want.Unrouted != "app=X" || want.RoutingUnknown != "app=Y" || want.Contract != "1" || !want.NoImage {
		t.Errorf("facts %+v", want)
	}
	got, err := StripPod(pod.DeepCopy())
	if err != nil {
		t.Fatal(err)
	}
	stripped := got.(*corev1.Pod)
	if diff := cmp.Diff(want, podFacts(stripped, false)); diff != "" {
		t.Error(diff)
	}
	if stripped.Spec.Containers[0].Env != nil || stripped.Spec.Volumes != nil || stripped.ManagedFields != nil || len(stripped.Annotations) != 3 ||
		len(stripped.Status.InitContainerStatuses) != 1 || stripped.Status.InitContainerStatuses[0].State.Waiting.Message != "" {
		t.Errorf("kept too much: %+v", stripped)
	}
	if stripped.ResourceVersion != "7" || !live(stripped) || !injected(stripped) {
		t.Errorf("kept too little: %+v", stripped)
	}
}

func TestCandidates(t *testing.T) {
	pod := func(name, label string, phase corev1.PodPhase) corev1.Pod {
		p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.PodStatus{Phase: phase}}
		if label != "" {
			p.Labels = map[string]string{"headgate.dev/inject": label}
		}
		return p
	}
	plain, out := pod("plain", "", corev1.PodRunning), pod("out", "disabled", corev1.PodRunning)
	in, ended := pod("in", "enabled", corev1.PodPending), pod("ended", "", corev1.PodSucceeded)
	for name, tc := range map[string]struct {
		pods    []corev1.Pod
		optedIn bool
		want    []string
	}{
		"namespace opted in":   {[]corev1.Pod{plain, out, in, ended}, true, []string{"plain", "in"}},
		"some pods labelled":   {[]corev1.Pod{plain, out, in}, false, []string{"in"}},
		"nobody asked for any": {[]corev1.Pod{plain, out}, false, []string{"plain"}},
	} {
		var got []string
		for _, p := range candidates(tc.pods, tc.optedIn) {
			got = append(got, p.Name)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// The matcher, which works once for each group of labels, agrees with plan.Select, which gateways use.
func TestMatcherAgreesWithSelect(t *testing.T) {
	values := rapid.SampledFrom([]string{"", "a", "b"})
	labels := rapid.MapOfN(rapid.SampledFrom([]string{"x", "y", "z"}), values, 0, 3)
	term := rapid.Custom(func(t *rapid.T) plan.Term {
		return plan.Term{
			Key:      rapid.SampledFrom([]string{"x", "y"}).Draw(t, "key"),
			Operator: rapid.SampledFrom([]plan.Operator{plan.In, plan.NotIn, plan.Exists, plan.DoesNotExist}).Draw(t, "operator"),
			Values:   rapid.SliceOfN(values, 1, 2).Draw(t, "values"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		var p plan.Plan
		for i := range rapid.IntRange(0, 5).Draw(t, "policies") {
			policy := plan.Policy{Name: fmt.Sprint(i), Selector: rapid.SliceOfN(term, 0, 2).Draw(t, "selector")}
			for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"p", "q", "r"}), 1, 3, rapid.ID).Draw(t, "routes") {
				policy.Routes = append(policy.Routes, plan.Route{Name: name})
			}
			p.Policies = append(p.Policies, policy)
		}
		m := newMatcher(&p)
		for range 5 {
			pod := labels.Draw(t, "labels")
			want := map[string]bool{}
			for _, route := range []string{"p", "q", "r"} {
				if policy, _, ok := p.Select(pod, route); ok {
					want[policy.Name] = true
				}
			}
			got := map[string]bool{}
			for _, i := range m.governing(pod) {
				got[p.Policies[i].Name] = true
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("labels %v: %s", pod, diff)
			}
		}
	})
}

// TestD17AnnotationsOfACopySayNothing: a template made of an injected pod says "Injected" of pods that no webhook saw.
func TestD17AnnotationsOfACopySayNothing(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app"}}}}
	for outcome, want := range map[string]string{
		"Injected": "", "Injected: base URLs are left to the app": "", "": "",
		"SkippedWindows: the gateway runs on Linux only": "SkippedWindows: the gateway runs on Linux only",
	} {
		pod.Annotations = map[string]string{sidecar.AnnotationContract: sidecar.ContractVersion, sidecar.AnnotationOutcome: outcome}
		r := &Reconciler{}
		r.webhookSeen(pod)
		if got := podFacts(pod, true); got.Injected || got.Outcome != want || r.called.Load() != (want != "") {
			t.Errorf("%q: injected %t, outcome %q, the webhook was called: %t", outcome, got.Injected, got.Outcome, r.called.Load())
		}
	}
}

// TestD17AGatewayThatDoesNotComeUpIsTold by any word of the kubelet, and in the moments between two of its ends.
func TestD17AGatewayThatDoesNotComeUpIsTold(t *testing.T) {
	waits := func(reason string) corev1.ContainerState {
		return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: "long"}}
	}
	runs, ended := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1}}
	for name, tc := range map[string]struct {
		status     corev1.ContainerStatus
		noImage    bool
		notStarted string
	}{
		"comes up":            {corev1.ContainerStatus{State: waits("PodInitializing")}, false, ""},
		"is made":             {corev1.ContainerStatus{State: waits("ContainerCreating")}, false, ""},
		"runs":                {corev1.ContainerStatus{State: runs, Started: ptr.To(true), RestartCount: 7}, false, ""},
		"starts":              {corev1.ContainerStatus{State: runs, Started: ptr.To(false)}, false, ""},
		"starts once more":    {corev1.ContainerStatus{State: runs, Started: ptr.To(false), RestartCount: 1}, false, ""},
		"no image":            {corev1.ContainerStatus{State: waits("ErrImageNeverPull")}, true, ""},
		"crashes":             {corev1.ContainerStatus{State: waits("CrashLoopBackOff"), RestartCount: 3}, false, "CrashLoopBackOff"},
		"between two crashes": {corev1.ContainerStatus{State: runs, Started: ptr.To(false), RestartCount: 3}, false, "CrashLoopBackOff"},
		"right after one":     {corev1.ContainerStatus{State: ended, Started: ptr.To(false), RestartCount: 3}, false, "CrashLoopBackOff"},
		"cannot be made":      {corev1.ContainerStatus{State: waits("CreateContainerConfigError")}, false, "CreateContainerConfigError"},
		"does not run":        {corev1.ContainerStatus{State: waits("RunContainerError")}, false, "RunContainerError"},
	} {
		pod := &corev1.Pod{}
		tc.status.Name = sidecar.ContainerName
		pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "other", State: waits("CrashLoopBackOff")}, tc.status}
		stripped, err := StripPod(pod)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []*corev1.Pod{pod, stripped.(*corev1.Pod)} {
			if got := podFacts(p, true); got.NoImage != tc.noImage || got.NotStarted != tc.notStarted {
				t.Errorf("%s: no image %t, not started %q", name, got.NoImage, got.NotStarted)
			}
		}
	}
}
