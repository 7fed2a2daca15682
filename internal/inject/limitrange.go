// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// fitLimitRange makes the container pass one item of a LimitRange: limits at most max, requests at
// least min, and limit/request at most the ratio. Of a ratio the request gives way, because a lower
// memory limit could kill the gateway. An item for whole pods has a ratio too, which the pod keeps if the app alone
// does and the gateway does.
func fitLimitRange(r corev1.ResourceRequirements, item corev1.LimitRangeItem, equal bool) {
	for name, limit := range r.Limits {
		request := r.Requests[name]
		if most, ok := item.Max[name]; ok && limit.Cmp(most) > 0 {
			limit = most
		}
		if least, ok := item.Min[name]; ok {
			request, limit = larger(request, least), larger(limit, least)
		}
		if ratio, ok := item.MaxLimitRequestRatio[name]; ok {
			request = larger(request, divided(limit, ratio))
		}
		if equal || request.Cmp(limit) > 0 {
			request = limit
		}
		r.Limits[name], r.Requests[name] = limit, request
	}
}

func larger(a, b resource.Quantity) resource.Quantity {
	if a.Cmp(b) >= 0 {
		return a
	}
	return b
}

// divided is limit/ratio, rounded up to a thousandth of a CPU or a whole byte.
func divided(limit, ratio resource.Quantity) resource.Quantity {
	thousandths := ratio.MilliValue()
	if thousandths <= 0 {
		return resource.Quantity{}
	}
	if limit.Format == resource.DecimalSI {
		return *resource.NewMilliQuantity(ceilRatio(limit.MilliValue(), thousandths), resource.DecimalSI)
	}
	return *resource.NewQuantity(ceilRatio(limit.Value(), thousandths), limit.Format)
}

// ceilRatio is ceil(value * 1000 / thousandths), in floating point only where integers would overflow.
func ceilRatio(value, thousandths int64) int64 {
	const exact = 1 << 53
	if value < exact {
		return (value*1000 + thousandths - 1) / thousandths
	}
	return value/thousandths*1000 + 1000
}

// refuseLimitRange finds a LimitRange that the app alone passes and the gateway would break, or that leaves the gateway
// less than it asks for: then the app runs without it rather than not at all.
func refuseLimitRange(spec *corev1.PodSpec, p Params) Outcome {
	gateway := fitted(spec, p)
	for _, name := range []corev1.ResourceName{corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
		// Little of a processor makes it slow; little of these ends it, and the pod with it.
		limit, limited := gateway.Limits[name]
		if least := p.resources().Requests[name]; limited && limit.Cmp(least) < 0 {
			return skipped("the gateway needs %s of %s, and the namespace's LimitRange allows a container %s", &least, name, &limit)
		}
	}
	for _, item := range p.LimitRanges {
		if item.Type != corev1.LimitTypePod {
			continue
		}
		for name, most := range item.Max {
			total := podLimit(spec, name)
			total.Add(gateway.Limits[name])
			if total.Cmp(most) > 0 {
				return skipped("with the gateway the pod's %s limit would be %s, and the namespace's LimitRange allows %s", name, &total, &most)
			}
		}
	}
	return Outcome{}
}

func skipped(format string, args ...any) Outcome {
	return Outcome{Reason: SkippedLimitRange, Message: fmt.Sprintf(format, args...)}
}

// podLimit is what the pod may use at most without the gateway, which runs beside all of it and so adds to it: what is
// stated for the whole pod, else the containers that run at the same time, or an init container with the sidecars before it.
func podLimit(spec *corev1.PodSpec, name corev1.ResourceName) resource.Quantity {
	if spec.Resources != nil {
		if stated, ok := spec.Resources.Limits[name]; ok {
			return stated.DeepCopy()
		}
	}
	var sidecars, most resource.Quantity
	for i := range spec.InitContainers {
		limit := spec.InitContainers[i].Resources.Limits[name]
		if restartable(&spec.InitContainers[i]) {
			sidecars.Add(limit)
			continue
		}
		limit = limit.DeepCopy()
		limit.Add(sidecars)
		most = larger(most, limit)
	}
	for i := range spec.Containers {
		sidecars.Add(spec.Containers[i].Resources.Limits[name])
	}
	return larger(most, sidecars)
}
