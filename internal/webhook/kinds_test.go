// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/inject"
	"github.com/headgate-dev/headgate/internal/sidecar"
)

// TestPodsOfAnyKindAreAdmitted: what the API server takes without the gateway it takes with it.
func TestPodsOfAnyKindAreAdmitted(t *testing.T) {
	source := func(name string) corev1.EnvFromSource {
		return corev1.EnvFromSource{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}}
	}
	for name, tc := range map[string]struct {
		change func(pod *corev1.Pod)
		want   inject.Reason
	}{
		"name to come":       {func(p *corev1.Pod) { p.Name, p.GenerateName = "", "app-" }, inject.Injected},
		"no token":           {func(p *corev1.Pod) { p.Spec.AutomountServiceAccountToken = ptr.To(false) }, inject.Injected},
		"user namespace":     {func(p *corev1.Pod) { p.Spec.HostUsers = ptr.To(false) }, inject.Injected},
		"shared processes":   {func(p *corev1.Pod) { p.Spec.ShareProcessNamespace = ptr.To(true) }, inject.Injected},
		"no service links":   {func(p *corev1.Pod) { p.Spec.EnableServiceLinks = ptr.To(false) }, inject.Injected},
		"pods of nodes' DNS": {func(p *corev1.Pod) { p.Spec.DNSPolicy = corev1.DNSDefault }, inject.Injected},
		"root and a group": {func(p *corev1.Pod) {
			p.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsUser: ptr.To(int64(0)), FSGroup: ptr.To(int64(2000))}
			p.Spec.Containers[0].SecurityContext = nil
		}, inject.Injected},
		"a budget for the pod": {func(p *corev1.Pod) {
			all := amount(corev1.ResourceCPU, "300m")
			all[corev1.ResourceMemory] = amount(corev1.ResourceMemory, "64Mi")[corev1.ResourceMemory]
			p.Spec.Resources = &corev1.ResourceRequirements{Requests: all, Limits: all}
		}, inject.Injected},
		"a budget of one kind": {func(p *corev1.Pod) {
			p.Spec.Resources = &corev1.ResourceRequirements{Limits: amount(corev1.ResourceCPU, "10m")}
		}, inject.Injected},
		"only limits": {func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Limits = amount(corev1.ResourceMemory, "64Mi") }, inject.Injected},
		"several sources": {func(p *corev1.Pod) {
			p.Spec.Containers[0].EnvFrom = []corev1.EnvFromSource{source("settings"), source("keys"), source("proxy")}
			p.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "HTTPS_PROXY", Value: "http://$(USER):$(PASSWORD)@proxy.example"}}
		}, inject.Injected},
		"an init container of our name": {func(p *corev1.Pod) {
			p.Spec.InitContainers = []corev1.Container{*p.Spec.Containers[0].DeepCopy()}
			p.Spec.InitContainers[0].Name, p.Spec.InitContainers[0].Env = sidecar.ContainerName, nil
		}, inject.SkippedNameTaken},
		"a volume of our name": {func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: sidecar.VolumeState, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
		}, inject.SkippedNameTaken},
		"a node's port": {func(p *corev1.Pod) {
			p.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 8080, HostPort: sidecar.DataPort}}
		}, inject.Injected},
		"a job's end": {func(p *corev1.Pod) {
			p.Spec.RestartPolicy, p.Spec.ActiveDeadlineSeconds = corev1.RestartPolicyNever, ptr.To(int64(60))
		}, inject.Injected},
		"as many annotations as there may be": {func(p *corev1.Pod) {
			p.Annotations = map[string]string{"example.com/much": strings.Repeat("x", 256<<10-100)}
			p.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "OPENAI_BASE_URL", Value: "https://theirs.example"}}
		}, ""},
		"a label that is empty": {func(p *corev1.Pod) { p.Labels = map[string]string{v1alpha1.LabelInject: ""} }, inject.Injected},
	} {
		t.Run(name, func(t *testing.T) {
			pod := newPod(env.Namespace(t, optedIn), "app")
			tc.change(pod)
			create(t, pod)
			got, _, _ := strings.Cut(pod.Annotations[sidecar.AnnotationOutcome], ":")
			if got != string(tc.want) || isInjected(pod) != (tc.want == inject.Injected) && tc.want != inject.SkippedNameTaken {
				t.Errorf("outcome %q, want %s", got, tc.want)
			}
			if has := pod.Annotations[sidecar.AnnotationContract] != ""; has != (tc.want == inject.Injected) {
				t.Errorf("carries a contract: %t", has)
			}
		})
	}
}

// TestAnInjectedPodThatIsCopiedIsInjectedOnce: templates are made of kubectl get pod -o yaml, whole or with the gateway's
// container taken out.
func TestAnInjectedPodThatIsCopiedIsInjectedOnce(t *testing.T) {
	namespace := env.Namespace(t, optedIn)
	original := create(t, newPod(namespace, "original"))
	mustBeInjected(t, original)
	copied := func(namespace, name string) *corev1.Pod {
		pod := original.DeepCopy()
		pod.ObjectMeta = metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: pod.Labels, Annotations: pod.Annotations}
		pod.Status, pod.UID = corev1.PodStatus{}, types.UID("")
		return pod
	}
	for _, ns := range []string{namespace, env.Namespace(t, optedIn)} {
		for name, change := range map[string]func(*corev1.Pod){
			"whole":               func(*corev1.Pod) {},
			"without a container": func(p *corev1.Pod) { p.Spec.InitContainers = nil },
			"without volumes":     func(p *corev1.Pod) { p.Spec.InitContainers, p.Spec.Volumes = nil, nil },
			"without annotations": func(p *corev1.Pod) { p.Spec.InitContainers, p.Annotations = nil, nil },
		} {
			pod := copied(ns, strings.ReplaceAll(name, " ", "-"))
			change(pod)
			create(t, pod)
			mustBeInjected(t, pod)
			if diff := cmp.Diff(original.Spec, pod.Spec); diff != "" {
				t.Errorf("%s: the copy differs (-original +copy):\n%s", name, diff)
			}
		}
	}
}
