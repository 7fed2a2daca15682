// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"
)

// kinds of resources that LimitRanges are drawn for.
var kinds = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}

// TestD7WhatPassesAloneIsNotRefusedForTheGateway judges pods as the API server's admission does, before and after: by any
// LimitRanges of containers and of pods, with init containers, sidecars and budgets for the whole pod. A pod keeps the
// quality of service it would lose by another container.
func TestD7WhatPassesAloneIsNotRefusedForTheGateway(t *testing.T) {
	injected := 0
	rapid.Check(t, func(t *rapid.T) {
		p := testParams()
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			p.LimitRanges = append(p.LimitRanges, drawLimits(t))
		}
		p.CountsBestEffort = rapid.Bool().Draw(t, "quota for best effort")
		before := corev1.Pod{Spec: drawResources(t)}
		if !admits(p.LimitRanges, &before.Spec) {
			return
		}
		after, outcome := Inject(before, p)
		if !admits(p.LimitRanges, &after.Spec) {
			t.Fatalf("the pod passes alone, and not with the gateway: %s, %+v", outcome.Annotation(), after.Spec)
		}
		if guaranteed(&before.Spec) && !guaranteed(&after.Spec) {
			t.Fatal("the pod is Guaranteed no more")
		}
		if p.CountsBestEffort && bestEffort(&before.Spec) && !bestEffort(&after.Spec) {
			t.Fatal("the pod counts to another quota than before")
		}
		if outcome.Reason == Injected {
			injected++
		}
	})
	if injected == 0 {
		t.Error("no pod was injected")
	}
}

// admits is the judgement of LimitRanges, as the API server's admission makes it.
func admits(items []corev1.LimitRangeItem, spec *corev1.PodSpec) bool {
	for _, item := range items {
		if item.Type == corev1.LimitTypePod {
			if !itemAdmits(item, ofPod(spec, requestsOf), ofPod(spec, limitsOf)) {
				return false
			}
			continue
		}
		for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
			for _, c := range containers {
				if !itemAdmits(item, c.Resources.Requests, c.Resources.Limits) {
					return false
				}
			}
		}
	}
	return true
}

func requestsOf(r *corev1.ResourceRequirements) corev1.ResourceList { return r.Requests }
func limitsOf(r *corev1.ResourceRequirements) corev1.ResourceList   { return r.Limits }

func itemAdmits(item corev1.LimitRangeItem, requests, limits corev1.ResourceList) bool {
	for name, least := range item.Min {
		request, ok := requests[name]
		limit, limited := limits[name]
		if !ok || request.Cmp(least) < 0 || limited && limit.Cmp(least) < 0 {
			return false
		}
	}
	for name, most := range item.Max {
		request := requests[name]
		if limit, ok := limits[name]; !ok || limit.Cmp(most) > 0 || request.Cmp(most) > 0 {
			return false
		}
	}
	for name, ratio := range item.MaxLimitRequestRatio {
		request, limit := requests[name], limits[name]
		if request.IsZero() || limit.IsZero() || limit.AsApproximateFloat64()/request.AsApproximateFloat64() > ratio.AsApproximateFloat64()*(1+1e-12) {
			return false
		}
	}
	return true
}

// ofPod adds up what runs at the same time; an init container with the sidecars before it may need more.
func ofPod(spec *corev1.PodSpec, of func(*corev1.ResourceRequirements) corev1.ResourceList) corev1.ResourceList {
	sum, sidecars, most := corev1.ResourceList{}, corev1.ResourceList{}, corev1.ResourceList{}
	for i := range spec.Containers {
		addTo(sum, of(&spec.Containers[i].Resources))
	}
	for i := range spec.InitContainers {
		own := corev1.ResourceList{}
		addTo(own, of(&spec.InitContainers[i].Resources))
		if restartable(&spec.InitContainers[i]) {
			addTo(sum, own)
			addTo(sidecars, own)
			continue
		}
		addTo(own, sidecars)
		raise(most, own)
	}
	raise(sum, most)
	if spec.Resources != nil {
		for name, amount := range of(spec.Resources) {
			sum[name] = amount
		}
	}
	return sum
}

func addTo(to, more corev1.ResourceList) {
	for name, amount := range more {
		sum := to[name].DeepCopy()
		sum.Add(amount)
		to[name] = sum
	}
}

func raise(to, more corev1.ResourceList) {
	for name, amount := range more {
		to[name] = larger(to[name], amount)
	}
}

func drawLimits(t *rapid.T) corev1.LimitRangeItem {
	item := corev1.LimitRangeItem{Type: rapid.SampledFrom([]corev1.LimitType{corev1.LimitTypeContainer, corev1.LimitTypePod}).Draw(t, "type")}
	name := rapid.SampledFrom(kinds).Draw(t, "of")
	one := func(values ...string) corev1.ResourceList {
		return corev1.ResourceList{name: resource.MustParse(rapid.SampledFrom(values).Draw(t, "bound"))}
	}
	switch rapid.IntRange(0, 2).Draw(t, "which") {
	case 0:
		item.Max = one(amountsOf[name]...)
	case 1:
		item.Min = one(amountsOf[name]...)
	default:
		item.MaxLimitRequestRatio = one("1", "1.5", "2", "3", "8")
	}
	return item
}

var amountsOf = map[corev1.ResourceName][]string{
	corev1.ResourceCPU:              {"30m", "100m", "300m", "500m", "700m", "1", "1500m"},
	corev1.ResourceMemory:           {"16Mi", "64Mi", "100Mi", "256Mi", "300Mi", "512Mi", "1Gi"},
	corev1.ResourceEphemeralStorage: {"8Mi", "64Mi", "100Mi", "1Gi", "1100Mi", "2Gi"},
}

// drawResources draws a pod whose requests are stated where limits are, since the API server makes them so, and whose
// budget, if it has one, holds its containers.
func drawResources(t *rapid.T) corev1.PodSpec {
	var spec corev1.PodSpec
	for i := range rapid.IntRange(0, 2).Draw(t, "init") {
		c := corev1.Container{Name: "init-" + string(rune('a'+i)), Resources: drawRequirements(t)}
		if always := corev1.ContainerRestartPolicyAlways; rapid.Bool().Draw(t, "sidecar") {
			c.RestartPolicy = &always
		}
		spec.InitContainers = append(spec.InitContainers, c)
	}
	for i := range rapid.IntRange(1, 2).Draw(t, "containers") {
		spec.Containers = append(spec.Containers, corev1.Container{Name: "app-" + string(rune('a'+i)), Resources: drawRequirements(t)})
	}
	if rapid.IntRange(0, 3).Draw(t, "pod resources") == 0 {
		spec.Resources = &corev1.ResourceRequirements{
			Requests: ofPod(&spec, requestsOf), Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourceMemory: resource.MustParse("2Gi")},
		}
		delete(spec.Resources.Requests, corev1.ResourceEphemeralStorage)
	}
	return spec
}

func drawRequirements(t *rapid.T) corev1.ResourceRequirements {
	out := corev1.ResourceRequirements{Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{}}
	if rapid.IntRange(0, 3).Draw(t, "nothing stated") == 0 {
		return corev1.ResourceRequirements{}
	}
	equal := rapid.Bool().Draw(t, "equal")
	stated := kinds
	if rapid.IntRange(0, 3).Draw(t, "storage alone") == 0 {
		stated = kinds[2:]
	}
	for _, name := range stated {
		a := resource.MustParse(rapid.SampledFrom(amountsOf[name]).Draw(t, "request"))
		b := resource.MustParse(rapid.SampledFrom(amountsOf[name]).Draw(t, "limit"))
		if a.Cmp(b) > 0 {
			a, b = b, a
		}
		if equal {
			a = b
		}
		out.Requests[name], out.Limits[name] = a, b
	}
	return out
}

// TestD7AGatewayOfNoProcessorAndMemoryFitsItsStorage where a quota leaves it nothing else, and is skipped where that is
// too little.
func TestD7AGatewayOfNoProcessorAndMemoryFitsItsStorage(t *testing.T) {
	for most, want := range map[string]Reason{"512Mi": Injected, "8Mi": SkippedLimitRange} {
		p := testParams()
		p.CountsBestEffort = true
		bound := corev1.ResourceList{corev1.ResourceEphemeralStorage: resource.MustParse(most)}
		p.LimitRanges = []corev1.LimitRangeItem{{Type: corev1.LimitTypeContainer, Max: bound}}
		pod := corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Resources: corev1.ResourceRequirements{Requests: bound, Limits: bound}}}}}
		after, outcome := Inject(pod, p)
		if outcome.Reason != want || !bestEffort(&after.Spec) || !admits(p.LimitRanges, &after.Spec) {
			t.Errorf("at most %s: %s, resources %+v", most, outcome.Annotation(), after.Spec.InitContainers)
		}
	}
}
