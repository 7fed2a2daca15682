// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Resources are the gateway's. All three kinds have requests and limits, since a ResourceQuota refuses
// a pod in which any container lacks what it counts.
type Resources struct {
	Requests, Limits corev1.ResourceList
	// Guaranteed is requests and limits alike in a pod of that quality of service, which would lose it
	// to any other container.
	Guaranteed corev1.ResourceList
}

// DefaultResources are for a gateway that serves a few hundred calls a second.
func DefaultResources() Resources {
	return Resources{
		Requests:   amounts("50m", "64Mi", "64Mi"),
		Limits:     amounts("500m", "256Mi", "1Gi"),
		Guaranteed: amounts("200m", "256Mi", "1Gi"),
	}
}

func amounts(cpu, memory, storage string) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse(cpu),
		corev1.ResourceMemory:           resource.MustParse(memory),
		corev1.ResourceEphemeralStorage: resource.MustParse(storage),
	}
}

// resources are the installation's, or the default ones.
func (p Params) resources() Resources {
	if r := p.Resources; r.Requests != nil || r.Limits != nil || r.Guaranteed != nil {
		return r
	}
	return DefaultResources()
}

// fitted is what the gateway gets in this pod and namespace.
func fitted(spec *corev1.PodSpec, p Params) corev1.ResourceRequirements {
	r := p.resources()
	out := corev1.ResourceRequirements{Requests: maps.Clone(r.Requests), Limits: maps.Clone(r.Limits)}
	if p.CountsBestEffort && bestEffort(spec) {
		for _, name := range decisive {
			delete(out.Requests, name)
			delete(out.Limits, name)
		}
	}
	equal := guaranteed(spec)
	if equal {
		out.Requests, out.Limits = maps.Clone(r.Guaranteed), maps.Clone(r.Guaranteed)
	}
	for _, item := range p.LimitRanges {
		if item.Type == corev1.LimitTypeContainer {
			fitLimitRange(out, item, equal)
		}
		if item.Type == corev1.LimitTypePod {
			fitLimitRange(out, corev1.LimitRangeItem{MaxLimitRequestRatio: item.MaxLimitRequestRatio}, equal)
		}
	}
	return out
}

// decisive are the kinds that a pod's quality of service depends on.
var decisive = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}

// bestEffort says whether nothing in the pod has requests or limits of these.
func bestEffort(spec *corev1.PodSpec) bool {
	states := func(r *corev1.ResourceRequirements) bool {
		return r != nil && slices.ContainsFunc(decisive, func(name corev1.ResourceName) bool {
			return !r.Requests.Name(name, resource.DecimalSI).IsZero() || !r.Limits.Name(name, resource.DecimalSI).IsZero()
		})
	}
	return !states(spec.Resources) && !slices.ContainsFunc(slices.Concat(spec.InitContainers, spec.Containers), func(c corev1.Container) bool {
		return states(&c.Resources)
	})
}

// guaranteed says whether the pod is of that quality of service without the gateway.
func guaranteed(spec *corev1.PodSpec) bool {
	if spec.Resources != nil && (len(spec.Resources.Limits) > 0 || len(spec.Resources.Requests) > 0) {
		return requestsEqualLimits(spec.Resources.Requests, spec.Resources.Limits)
	}
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			r := &containers[i].Resources
			if !requestsEqualLimits(r.Requests, r.Limits) {
				return false
			}
		}
	}
	return true
}

// requestsEqualLimits looks at what decides the quality of service. An absent request is the limit.
func requestsEqualLimits(requests, limits corev1.ResourceList) bool {
	for _, name := range decisive {
		limit, ok := limits[name]
		if !ok || limit.IsZero() {
			return false
		}
		if request, ok := requests[name]; ok && request.Cmp(limit) != 0 {
			return false
		}
	}
	return true
}

// growPodResources adds the gateway to a budget stated for the whole pod: the containers' sum may not
// be above it, and the app should not pay for us.
func growPodResources(spec *corev1.PodSpec, gateway corev1.ResourceRequirements) {
	if spec.Resources == nil {
		return
	}
	grow(spec.Resources.Requests, gateway.Requests)
	grow(spec.Resources.Limits, gateway.Limits)
}

func grow(pod, gateway corev1.ResourceList) {
	for name, amount := range pod {
		if more, ok := gateway[name]; ok {
			amount.Add(more)
			pod[name] = amount
		}
	}
}
