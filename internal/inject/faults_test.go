// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"slices"
	"strings"
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

// TestPodsForWindowsAreLeftAlone however they say what they run on: an image for Linux would keep them from starting.
func TestPodsForWindowsAreLeftAlone(t *testing.T) {
	affinity := func(terms ...[]corev1.NodeSelectorRequirement) corev1.PodSpec {
		selector := &corev1.NodeSelector{}
		for _, expressions := range terms {
			selector.NodeSelectorTerms = append(selector.NodeSelectorTerms, corev1.NodeSelectorTerm{MatchExpressions: expressions})
		}
		return corev1.PodSpec{Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: selector}}}
	}
	is := func(key string, op corev1.NodeSelectorOperator, values ...string) []corev1.NodeSelectorRequirement {
		return []corev1.NodeSelectorRequirement{{Key: "zone", Operator: corev1.NodeSelectorOpExists}, {Key: key, Operator: op, Values: values}}
	}
	in, notIn := corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn
	for name, tc := range map[string]struct {
		spec corev1.PodSpec
		want Reason
	}{
		"os":                 {corev1.PodSpec{OS: &corev1.PodOS{Name: corev1.Windows}}, SkippedWindows},
		"selector":           {corev1.PodSpec{NodeSelector: map[string]string{"kubernetes.io/os": "windows"}}, SkippedWindows},
		"older selector":     {corev1.PodSpec{NodeSelector: map[string]string{"beta.kubernetes.io/os": "windows"}}, SkippedWindows},
		"affinity":           {affinity(is("kubernetes.io/os", in, "windows")), SkippedWindows},
		"older affinity":     {affinity(is("beta.kubernetes.io/os", in, "windows")), SkippedWindows},
		"affinity, not":      {affinity(is("kubernetes.io/os", notIn, "linux")), SkippedWindows},
		"affinity, each":     {affinity(is("kubernetes.io/os", in, "windows"), is("kubernetes.io/os", notIn, "linux")), SkippedWindows},
		"either":             {affinity(is("kubernetes.io/os", in, "windows", "linux")), Injected},
		"one of two terms":   {affinity(is("kubernetes.io/os", in, "windows"), is("zone", in, "a")), Injected},
		"not windows":        {affinity(is("kubernetes.io/os", notIn, "windows")), Injected},
		"linux":              {corev1.PodSpec{OS: &corev1.PodOS{Name: corev1.Linux}, NodeSelector: map[string]string{"kubernetes.io/os": "linux"}}, Injected},
		"affinity of no use": {affinity(), Injected},
	} {
		tc.spec.Containers = []corev1.Container{{Name: "app"}}
		if _, outcome := Inject(corev1.Pod{Spec: tc.spec}, testParams()); outcome.Reason != tc.want {
			t.Errorf("%s: %s, want %s", name, outcome.Annotation(), tc.want)
		}
	}
}

// TestOnlyAPortThatTheGatewayListensOnIsTaken: it listens on TCP, and any container's port there is one of the pod's.
func TestOnlyAPortThatTheGatewayListensOnIsTaken(t *testing.T) {
	for _, tc := range []struct {
		port     int32
		protocol corev1.Protocol
		want     Reason
	}{
		{sidecar.DataPort, corev1.ProtocolTCP, SkippedPortTaken},
		{sidecar.AdminPort, "", SkippedPortTaken},
		{sidecar.DataPort, corev1.ProtocolUDP, Injected},
		{sidecar.AdminPort, corev1.ProtocolSCTP, Injected},
		{8080, corev1.ProtocolTCP, Injected},
	} {
		taken := corev1.Container{Name: "any", Ports: []corev1.ContainerPort{{ContainerPort: tc.port, Protocol: tc.protocol}}}
		for where, spec := range map[string]corev1.PodSpec{
			"app":  {Containers: []corev1.Container{taken}},
			"init": {InitContainers: []corev1.Container{taken}, Containers: []corev1.Container{{Name: "app"}}},
		} {
			if _, outcome := Inject(corev1.Pod{Spec: spec}, testParams()); outcome.Reason != tc.want {
				t.Errorf("%s, %d/%s: %s, want %s", where, tc.port, tc.protocol, outcome.Annotation(), tc.want)
			}
		}
	}
}

// TestD16TheGatewayWaitsForNoneOfTheAppsSources: what its proxy settings are made of may be missing, or written by a
// container that starts after it, and what is no proxy's is not taken.
func TestD16TheGatewayWaitsForNoneOfTheAppsSources(t *testing.T) {
	ref := corev1.LocalObjectReference{Name: "proxy"}
	from := func(source corev1.EnvVarSource) *corev1.EnvVarSource { return &source }
	pod := corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{
		Name: "app",
		EnvFrom: []corev1.EnvFromSource{
			{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: ref}},
			{Prefix: "HTTPS_", SecretRef: &corev1.SecretEnvSource{LocalObjectReference: ref}},
		},
		Env: []corev1.EnvVar{
			{Name: "PASSWORD", ValueFrom: from(corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: ref, Key: "password"}})},
			{Name: "OPENAI_API_KEY", ValueFrom: from(corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: ref, Key: "key"}})},
			{Name: "HTTP_PROXY", Value: "http://me:$(PASSWORD)@$(PROXY_HOST):3128"},
			{Name: "http_proxy", ValueFrom: from(corev1.EnvVarSource{FileKeyRef: &corev1.FileKeySelector{VolumeName: "v", Path: "p", Key: "k"}})},
			{Name: "all_proxy", ValueFrom: from(corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.cpu"}})},
		},
	}}}}
	after, _ := Inject(pod, testParams())
	names := map[string]int{}
	for _, e := range after.Spec.InitContainers[0].Env {
		names[e.Name]++
		if e.ValueFrom == nil || e.ValueFrom.FieldRef != nil {
			continue
		}
		configMap, secret := e.ValueFrom.ConfigMapKeyRef, e.ValueFrom.SecretKeyRef
		if configMap == nil && secret == nil || configMap != nil && !*configMap.Optional || secret != nil && !*secret.Optional {
			t.Errorf("the gateway does not start without %+v", e)
		}
	}
	want := map[string]int{
		"HTTP_PROXY": 1, "PASSWORD": 1, "PROXY_HOST": 1, "HTTPS_PROXY": 2, "https_proxy": 1, "NO_PROXY": 1, "OPENAI_API_KEY": 0, "http_proxy": 0, "all_proxy": 0,
	}
	for name, n := range want {
		if names[name] != n {
			t.Errorf("the gateway has %d of %s, want %d", names[name], name, n)
		}
	}
}

// TestAnnotationsStayWithinWhatAPodMayHave: with more of them the API server refuses it.
func TestAnnotationsStayWithinWhatAPodMayHave(t *testing.T) {
	source := corev1.EnvFromSource{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}}}
	own := corev1.EnvVar{Name: "OPENAI_BASE_URL", Value: "https://theirs.example"}
	reasons := map[Reason]int{}
	for left := 0; left < 6000; left += 13 {
		pod := corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{
			{Name: "app", EnvFrom: []corev1.EnvFromSource{source}}, {Name: "second", Env: []corev1.EnvVar{own}},
		}}}
		pod.Annotations = map[string]string{"x": strings.Repeat("x", maxAnnotations-left-1)}
		pod.Spec.HostNetwork = left%7 == 0
		after, outcome := Inject(pod, testParams())
		if n := annotationSize(&after); n > maxAnnotations {
			t.Fatalf("with room for %d there are %d bytes of annotations", left, n)
		}
		if (after.Annotations[sidecar.AnnotationContract] == "") == (outcome.Reason == Injected) {
			t.Fatalf("with room for %d: %s, annotations %v", left, outcome.Reason, len(after.Annotations))
		}
		if again, _ := Inject(after, testParams()); len(again.Annotations) != len(after.Annotations) || len(again.Spec.InitContainers) != len(after.Spec.InitContainers) {
			t.Fatalf("with room for %d the second injection changes the pod", left)
		}
		reasons[outcome.Reason]++
	}
	if reasons[Injected] == 0 || reasons[SkippedAnnotations] == 0 || reasons[SkippedHostNetwork] == 0 {
		t.Errorf("outcomes %v", reasons)
	}
}
