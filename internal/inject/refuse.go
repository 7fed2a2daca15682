// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/sidecar"
)

// refuse says why a pod gets no gateway, or nothing. A pod that has ours already is only asked whether
// it opted out: what another webhook did since cannot take the container away.
func refuse(pod *corev1.Pod, p Params, present bool) Outcome {
	if o := refuseAlways(pod, p); o.Reason != "" || present {
		return o
	}
	if o := refuseKind(&pod.Spec, pod.Annotations); o.Reason != "" {
		return o
	}
	if o := refuseCollision(&pod.Spec); o.Reason != "" {
		return o
	}
	switch {
	case annotationSize(pod) > maxAnnotations-annotationRoom:
		return Outcome{Reason: SkippedAnnotations, Message: "the pod has as many annotations as it may have, and the gateway's would be too many"}
	case !p.NativeSidecars:
		return Outcome{
			Reason:  RefusedNoNativeSidecars,
			Message: "this cluster has no native sidecars, and another kind would keep Jobs from completing",
		}
	case p.Image == "":
		return Outcome{Reason: RefusedNoImage, Message: "the installation names no gateway image"}
	}
	return refuseLimitRange(&pod.Spec, p)
}

func refuseAlways(pod *corev1.Pod, p Params) Outcome {
	if pod.Labels[v1alpha1.LabelInject] == v1alpha1.InjectDisabled {
		return Outcome{Reason: SkippedOptOut, Message: "label " + v1alpha1.LabelInject + " is " + v1alpha1.InjectDisabled}
	}
	if _, ok := pod.Annotations[corev1.MirrorPodAnnotationKey]; ok {
		return Outcome{Reason: SkippedMirrorPod, Message: "a kubelet's mirror pod may not refer to other objects"}
	}
	if slices.Contains(p.ExcludedNamespaces, p.Namespace) {
		return Outcome{Reason: SkippedNamespace, Message: "namespace " + p.Namespace + " is never injected"}
	}
	return Outcome{}
}

func refuseKind(spec *corev1.PodSpec, annotations map[string]string) Outcome {
	if forWindows(spec) {
		return Outcome{Reason: SkippedWindows, Message: "the gateway runs on Linux only"}
	}
	if spec.HostNetwork && annotations[sidecar.AnnotationAllowHostNetwork] != "true" {
		return Outcome{
			Reason: SkippedHostNetwork,
			Message: "two such pods on a node would fight for the gateway's ports; annotation " +
				sidecar.AnnotationAllowHostNetwork + "=true injects anyway",
		}
	}
	return Outcome{}
}

// refuseCollision looks for names and ports that the gateway needs and somebody else has.
func refuseCollision(spec *corev1.PodSpec) Outcome {
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		if c.Name == sidecar.ContainerName {
			return Outcome{Reason: SkippedNameTaken, Message: "a container has the reserved name " + c.Name}
		}
		for _, port := range c.Ports {
			if port.Protocol != corev1.ProtocolUDP && port.Protocol != corev1.ProtocolSCTP &&
				(port.ContainerPort == sidecar.DataPort || port.ContainerPort == sidecar.AdminPort) {
				return Outcome{
					Reason:  SkippedPortTaken,
					Message: fmt.Sprintf("container %s uses port %d, which the gateway needs", c.Name, port.ContainerPort),
				}
			}
		}
	}
	ours := volumes()
	for _, v := range spec.Volumes {
		// The gateway's own are left over where its container was taken out of a copy.
		if slices.ContainsFunc(ours, func(o corev1.Volume) bool { return o.Name == v.Name && !sameSource(&o, &v) }) {
			return Outcome{Reason: SkippedNameTaken, Message: "a volume has the reserved name " + v.Name}
		}
	}
	return Outcome{}
}
