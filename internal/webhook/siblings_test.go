// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/headgate-dev/headgate/internal/inject"
	"github.com/headgate-dev/headgate/internal/sidecar"
)

func amount(name corev1.ResourceName, value string) corev1.ResourceList {
	return corev1.ResourceList{name: resource.MustParse(value)}
}

// limited is a pod whose container has what a LimitRange asks for.
func limited(namespace, name, request, limit string) *corev1.Pod {
	pod := newPod(namespace, name)
	pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{
		Requests: amount(corev1.ResourceCPU, request), Limits: amount(corev1.ResourceCPU, limit),
	}
	return pod
}

// TestD7LimitRangesOfWholePods: of the ratio of a pod's limit to its request, and of its maximum where an init container
// makes it, the API server's own admission judges.
func TestD7LimitRangesOfWholePods(t *testing.T) {
	for name, tc := range map[string]struct {
		item     corev1.LimitRangeItem
		pod      func(namespace string) *corev1.Pod
		injected bool
	}{
		"ratio": {
			corev1.LimitRangeItem{Type: corev1.LimitTypePod, MaxLimitRequestRatio: amount(corev1.ResourceCPU, "2")},
			func(ns string) *corev1.Pod { return limited(ns, "ratio", "100m", "200m") }, true,
		},
		"init container": {
			corev1.LimitRangeItem{Type: corev1.LimitTypePod, Max: amount(corev1.ResourceCPU, "1")},
			func(ns string) *corev1.Pod {
				pod := limited(ns, "init", "100m", "200m")
				init := limited(ns, "", "100m", "1").Spec.Containers[0]
				init.Name = "init"
				pod.Spec.InitContainers = []corev1.Container{init}
				return pod
			}, false,
		},
		"budget of the pod": {
			corev1.LimitRangeItem{Type: corev1.LimitTypePod, Max: amount(corev1.ResourceCPU, "1")},
			func(ns string) *corev1.Pod {
				pod := newPod(ns, "budget")
				pod.Spec.Resources = &corev1.ResourceRequirements{Limits: amount(corev1.ResourceCPU, "900m")}
				return pod
			}, false,
		},
		"too little for the gateway": {
			corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, Max: amount(corev1.ResourceMemory, "32Mi")},
			func(ns string) *corev1.Pod { return newPod(ns, "little") }, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			namespace := env.Namespace(t, optedIn)
			limits := &corev1.LimitRange{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "limits"},
				Spec:       corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{tc.item}},
			}
			if err := env.Client.Create(t.Context(), limits); err != nil {
				t.Fatal(err)
			}
			// Once the handler's cache and the API server's have it, it stays so.
			var pod *corev1.Pod
			var err error
			for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
				pod = tc.pod(namespace)
				if err = env.Client.Create(t.Context(), pod, client.DryRunAll); err != nil {
					continue
				}
				gateway := &corev1.Container{}
				if isInjected(pod) {
					gateway = &pod.Spec.InitContainers[0]
				}
				if tc.injected && gateway.Resources.Requests.Cpu().Cmp(resource.MustParse("50m")) > 0 || !tc.injected && !isInjected(pod) {
					break
				}
			}
			if err != nil {
				t.Fatalf("the pod is refused: %v", err)
			}
			if isInjected(create(t, tc.pod(namespace))) != tc.injected {
				t.Errorf("annotations %v", pod.Annotations)
			}
			if !tc.injected && !strings.HasPrefix(pod.Annotations[sidecar.AnnotationOutcome], string(inject.SkippedLimitRange)) {
				t.Errorf("annotations %v", pod.Annotations)
			}
		})
	}
}

// TestD7QuotasForPodsThatAreNotBestEffort: a pod that states nothing is none of theirs, and of one that is they ask that
// each container states something.
func TestD7QuotasForPodsThatAreNotBestEffort(t *testing.T) {
	for name, spec := range map[string]corev1.ResourceQuotaSpec{
		"scope": {Scopes: []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeNotBestEffort}},
		"selector": {ScopeSelector: &corev1.ScopeSelector{MatchExpressions: []corev1.ScopedResourceSelectorRequirement{{
			ScopeName: corev1.ResourceQuotaScopeNotBestEffort, Operator: corev1.ScopeSelectorOpExists,
		}}}},
	} {
		t.Run(name, func(t *testing.T) {
			namespace := env.Namespace(t, optedIn)
			spec.Hard = amount(corev1.ResourceRequestsCPU, "10")
			quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "quota"}, Spec: spec}
			if err := env.Client.Create(t.Context(), quota); err != nil {
				t.Fatal(err)
			}
			quota.Status.Hard, quota.Status.Used = spec.Hard, amount(corev1.ResourceRequestsCPU, "0")
			if err := env.Client.Status().Update(t.Context(), quota); err != nil { // what the quota controller does
				t.Fatal(err)
			}
			// A pod that counts, and of which one container states nothing, is refused once the quota is enforced.
			enforced := func() error {
				pod := limited(namespace, "counts", "100m", "100m")
				pod.Spec.Containers = append(pod.Spec.Containers, newPod(namespace, "").Spec.Containers[0])
				pod.Spec.Containers[1].Name = "states-nothing"
				return env.Client.Create(t.Context(), pod, client.DryRunAll)
			}
			var pod *corev1.Pod
			state := func() string {
				if err := enforced(); err == nil || !strings.Contains(err.Error(), "must specify") {
					return fmt.Sprintf("the quota is not enforced: %v", err)
				}
				pod = newPod(namespace, "best-effort")
				if err := env.Client.Create(t.Context(), pod, client.DryRunAll); err != nil {
					return err.Error()
				}
				return ""
			}
			said := state()
			for end := time.Now().Add(patience); said != "" && time.Now().Before(end); said = state() {
				time.Sleep(50 * time.Millisecond)
			}
			if said != "" {
				t.Fatal(said)
			}
			mustBeInjected(t, create(t, newPod(namespace, "app")))
			if pod.Status.QOSClass != corev1.PodQOSBestEffort {
				t.Errorf("quality of service %s", pod.Status.QOSClass)
			}
			mustBeInjected(t, create(t, limited(namespace, "burstable", "100m", "200m")))
		})
	}
}
