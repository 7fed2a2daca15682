// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/headgate-dev/headgate/internal/sidecar"
)

// TestD2WithoutNativeSidecarsNothingIsInjected: any other kind of container would keep a pod that is meant to end.
func TestD2WithoutNativeSidecarsNothingIsInjected(t *testing.T) {
	for _, policy := range []corev1.RestartPolicy{corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever} {
		before := corev1.Pod{Spec: corev1.PodSpec{RestartPolicy: policy, Containers: []corev1.Container{{Name: "app"}}}}
		p := testParams()
		p.NativeSidecars = false
		after, outcome := Inject(before, p)
		if diff := cmp.Diff(before.Spec, after.Spec); diff != "" || outcome.Reason != RefusedNoNativeSidecars || outcome.Message == "" {
			t.Errorf("%s: %+v\n%s", policy, outcome, diff)
		}
		p.NativeSidecars = true
		after, _ = Inject(before, p)
		if len(after.Spec.Containers) != 1 || len(after.Spec.InitContainers) != 1 || !restartable(&after.Spec.InitContainers[0]) {
			t.Errorf("%s: the pod's end does not depend on its app alone: %+v", policy, after.Spec)
		}
	}
}

// TestD3EitherOrderOfWebhooksGivesAPodThatStarts: beside a mesh that puts a native sidecar of its own first.
func TestD3EitherOrderOfWebhooksGivesAPodThatStarts(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	mesh := func(pod corev1.Pod) corev1.Pod {
		out := *pod.DeepCopy()
		out.Spec.InitContainers = append([]corev1.Container{{Name: "istio-proxy", RestartPolicy: &always}}, out.Spec.InitContainers...)
		return out
	}
	ours := func(pod corev1.Pod) corev1.Pod {
		out, outcome := Inject(pod, testParams())
		if outcome.Reason != Injected {
			t.Errorf("outcome %+v", outcome)
		}
		return out
	}
	pod := corev1.Pod{Spec: corev1.PodSpec{
		InitContainers: []corev1.Container{{Name: "warm-up"}}, Containers: []corev1.Container{{Name: "app"}},
	}}
	for name, after := range map[string]corev1.Pod{"mesh first": ours(mesh(pod)), "mesh last, and we again": ours(mesh(ours(pod)))} {
		var order []string
		for _, c := range after.Spec.InitContainers {
			order = append(order, c.Name)
			if c.Name == sidecar.ContainerName && (!restartable(&c) || c.StartupProbe.Exec == nil || c.StartupProbe.HTTPGet != nil) {
				t.Errorf("%s: the gateway's start depends on the network: %+v", name, c.StartupProbe)
			}
		}
		app := slices.Index(order, "warm-up")
		if len(order) != 3 || app != 2 {
			t.Errorf("%s: init containers %v, want both sidecars before the app's own", name, order)
		}
	}
}

// TestD6UserIsOursUnlessTheClusterChoosesIt: OpenShift refuses a user outside the namespace's range, and elsewhere a pod's
// user 0 beside runAsNonRoot would never start.
func TestD6UserIsOursUnlessTheClusterChoosesIt(t *testing.T) {
	root := int64(0)
	pod := corev1.Pod{Spec: corev1.PodSpec{
		SecurityContext: &corev1.PodSecurityContext{RunAsUser: &root}, Containers: []corev1.Container{{Name: "app"}},
	}}
	for _, openShift := range []bool{false, true} {
		p := testParams()
		p.OpenShift = openShift
		after, _ := Inject(pod, p)
		sc := after.Spec.InitContainers[0].SecurityContext
		if stated := sc.RunAsUser != nil || sc.RunAsGroup != nil; stated == openShift || stated && (*sc.RunAsUser == 0 || *sc.RunAsGroup == 0) {
			t.Errorf("OpenShift %t: user %v, group %v", openShift, sc.RunAsUser, sc.RunAsGroup)
		}
		if !*sc.RunAsNonRoot || *sc.AllowPrivilegeEscalation || *sc.Privileged || !*sc.ReadOnlyRootFilesystem ||
			!slices.Equal(sc.Capabilities.Drop, []corev1.Capability{"ALL"}) || sc.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
			t.Errorf("OpenShift %t: %+v", openShift, sc)
		}
	}
}

// TestD7AutoscalersGetANumberAndTheShiftIsSmall: an HPA divides the use of all containers, native sidecars too, by their
// requests, and shows nothing if one has none.
func TestD7AutoscalersGetANumberAndTheShiftIsSmall(t *testing.T) {
	for _, tc := range []struct {
		request   string
		used, min float64 // of the request
	}{{"500m", 0.8, 0.72}, {"2", 0.8, 0.78}, {"200m", 0.5, 0.4}} {
		requests := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(tc.request), corev1.ResourceMemory: resource.MustParse("1Gi")}
		pod := corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Resources: corev1.ResourceRequirements{Requests: requests}}}}}
		after, _ := Inject(pod, testParams())
		gateway := after.Spec.InitContainers[0].Resources.Requests
		if gateway.Cpu().IsZero() || gateway.Memory().IsZero() {
			t.Fatalf("an autoscaler shows nothing: requests %v", gateway)
		}
		app, ours := requests.Cpu().AsApproximateFloat64(), gateway.Cpu().AsApproximateFloat64()
		if shown := tc.used * app / (app + ours); shown > tc.used || shown < tc.min {
			t.Errorf("an app that uses %.0f%% of %s shows as %.1f%%, want at least %.0f%%", 100*tc.used, tc.request, 100*shown, 100*tc.min)
		}
		if cmp.Diff(requests, after.Spec.Containers[0].Resources.Requests) != "" {
			t.Error("the app's own requests changed")
		}
	}
}
