// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/headgate-dev/headgate/internal/sidecar"
)

// Params is what an installation and a namespace add to a pod.
type Params struct {
	// Namespace is the admission request's: a pod's own is empty when a controller creates it.
	Namespace string
	// ExcludedNamespaces are never injected, whatever selectors say.
	ExcludedNamespaces []string
	// Image is the gateway's.
	Image string
	// PullPolicy is the image's; empty leaves it to Kubernetes.
	PullPolicy corev1.PullPolicy
	// CoordinatorURL is the https address of the coordinator's Service; empty leaves it out.
	CoordinatorURL string
	// CoordinatorCA is the PEM bundle that verifies the coordinator.
	CoordinatorCA string
	// DeferredStore is the URL of the installation's store of deferred calls, without a password; empty leaves the
	// gateway's arguments as they were before there was such a setting.
	DeferredStore string
	// NativeSidecars says that the cluster runs init containers with restartPolicy Always.
	NativeSidecars bool
	// OpenShift leaves the user to the namespace's range.
	OpenShift bool
	// Resources of the gateway's container; the zero value means DefaultResources.
	Resources Resources
	// LimitRanges of the namespace, which the container is made to fit.
	LimitRanges []corev1.LimitRangeItem
	// CountsBestEffort says that a ResourceQuota of the namespace is for pods of that quality of service, or for all others.
	// The gateway leaves such a pod what it is: with another quota its own containers might lack what that one counts.
	CountsBestEffort bool
}

// Reason says what became of a pod. It is the start of the outcome annotation and a metric label.
type Reason string

// The reasons.
const (
	Injected                Reason = "Injected"
	SkippedOptOut           Reason = "SkippedOptOut"
	SkippedNamespace        Reason = "SkippedNamespace"
	SkippedHostNetwork      Reason = "SkippedHostNetwork"
	SkippedWindows          Reason = "SkippedWindows"
	SkippedMirrorPod        Reason = "SkippedMirrorPod"
	SkippedNameTaken        Reason = "SkippedNameTaken"
	SkippedPortTaken        Reason = "SkippedPortTaken"
	SkippedLimitRange       Reason = "SkippedLimitRange"
	SkippedAnnotations      Reason = "SkippedAnnotations"
	RefusedNoNativeSidecars Reason = "RefusedNoNativeSidecars"
	RefusedNoImage          Reason = "RefusedNoImage"
)

// Reasons are all of them, for metrics that must exist before they count.
func Reasons() []Reason {
	return []Reason{
		Injected, SkippedOptOut, SkippedNamespace, SkippedHostNetwork, SkippedWindows, SkippedMirrorPod,
		SkippedNameTaken, SkippedPortTaken, SkippedLimitRange, SkippedAnnotations, RefusedNoNativeSidecars, RefusedNoImage,
	}
}

// Outcome is what became of a pod and what an app does to bypass the gateway.
type Outcome struct {
	Reason  Reason
	Message string
	// Unrouted are variables that the app points elsewhere itself.
	Unrouted []Variable
	// Unknown are variables of which injection cannot know the value.
	Unknown []Variable
}

// Variable is an environment variable of a container.
type Variable struct {
	Container, Name string
}

// Annotation is the outcome as the pod carries it.
func (o Outcome) Annotation() string {
	if o.Message == "" {
		return string(o.Reason)
	}
	return string(o.Reason) + ": " + o.Message
}

// Inject returns the pod with a gateway, or unchanged but for an annotation that says why not. The pod
// passed in is not changed. Inject(Inject(pod)) equals Inject(pod).
func Inject(pod corev1.Pod, p Params) (corev1.Pod, Outcome) {
	out := *pod.DeepCopy()
	present := hasGateway(&out)
	if o := refuse(&out, p, present); o.Reason != "" {
		note(&out, o)
		return out, o
	}
	if !present {
		add(&out, p)
	}
	addMissingVolumes(&out.Spec)
	o := route(&out)
	note(&out, o)
	return out, o
}

// add puts the gateway first. It is called once in a pod's life.
func add(pod *corev1.Pod, p Params) {
	resources := fitted(&pod.Spec, p)
	growPodResources(&pod.Spec, resources)
	gateway := container(&pod.Spec, p, resources)
	pod.Spec.InitContainers = append([]corev1.Container{gateway}, pod.Spec.InitContainers...)
	annotate(pod, sidecar.AnnotationContract, sidecar.ContractVersion)
}

// hasGateway tells our container from one that merely has its name.
func hasGateway(pod *corev1.Pod) bool {
	i := gatewayIndex(&pod.Spec)
	return i >= 0 && restartable(&pod.Spec.InitContainers[i]) &&
		pod.Annotations[sidecar.AnnotationContract] != ""
}

func gatewayIndex(spec *corev1.PodSpec) int {
	for i := range spec.InitContainers {
		if spec.InitContainers[i].Name == sidecar.ContainerName {
			return i
		}
	}
	return -1
}

func restartable(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}
