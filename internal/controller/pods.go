// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/inject"
	"github.com/headgate-dev/headgate/internal/sidecar"
	"github.com/headgate-dev/headgate/internal/status"
	"github.com/headgate-dev/headgate/internal/workload"
)

// StripPod is the transform of the cache of pods: it keeps what this project reads of a pod, about a tenth
// of it. A cluster has many pods, and every replica caches them all.
func StripPod(obj any) (any, error) {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return obj, nil // a tombstone
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: pod.Name, Namespace: pod.Namespace, UID: pod.UID, ResourceVersion: pod.ResourceVersion,
			CreationTimestamp: pod.CreationTimestamp, DeletionTimestamp: pod.DeletionTimestamp,
			Labels: pod.Labels, Annotations: ourAnnotations(pod.Annotations), OwnerReferences: controllerOf(pod),
		},
		Spec: corev1.PodSpec{
			HostNetwork: pod.Spec.HostNetwork, ServiceAccountName: pod.Spec.ServiceAccountName,
			InitContainers: containerNames(pod.Spec.InitContainers), Containers: containerNames(pod.Spec.Containers),
		},
		Status: corev1.PodStatus{Phase: pod.Status.Phase, InitContainerStatuses: gatewayStatus(pod)},
	}, nil
}

// pullFailures are what a kubelet says while it cannot get an image; it changes from one to another as it tries again.
var pullFailures = []string{
	"ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName", "ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed",
}

// startFailures are what it says while a container with an image does not start, or ends again and again.
var startFailures = []string{
	crashes, "CreateContainerConfigError", "CreateContainerError", "RunContainerError", "StartError", "PreStartHookError", "PostStartHookError",
}

const (
	crashes = "CrashLoopBackOff"
	// manyStarts without one that lasts are no accident; between two of them it is running for a moment.
	manyStarts = 2
)

// stuck is why the gateway's container does not come up, by a word of the kubelet; empty if it does, or soon will.
func stuck(pod *corev1.Pod) string {
	for _, s := range pod.Status.InitContainerStatuses {
		if s.Name != sidecar.ContainerName {
			continue
		}
		if w := s.State.Waiting; w != nil && (slices.Contains(pullFailures, w.Reason) || slices.Contains(startFailures, w.Reason)) {
			return w.Reason
		}
		if s.RestartCount >= manyStarts && s.Started != nil && !*s.Started {
			return crashes
		}
	}
	return ""
}

// gatewayStatus keeps of the containers' statuses what stuck reads.
func gatewayStatus(pod *corev1.Pod) []corev1.ContainerStatus {
	why := stuck(pod)
	if why == "" {
		return nil
	}
	return []corev1.ContainerStatus{{
		Name: sidecar.ContainerName, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: why}},
	}}
}

// gatewayFacts say whether the gateway's image does not come, and for what else it does not start.
func gatewayFacts(pod *corev1.Pod) (noImage bool, notStarted string) {
	why := stuck(pod)
	if slices.Contains(pullFailures, why) {
		return true, ""
	}
	return false, why
}

func ourAnnotations(all map[string]string) map[string]string {
	var out map[string]string
	for _, key := range []string{
		sidecar.AnnotationContract, sidecar.AnnotationOutcome, sidecar.AnnotationUnrouted, sidecar.AnnotationRoutingUnknown,
		sidecar.AnnotationAllowHostNetwork, // which the webhook asks after
	} {
		if value, ok := all[key]; ok {
			if out == nil {
				out = map[string]string{}
			}
			out[key] = value
		}
	}
	return out
}

func controllerOf(pod *corev1.Pod) []metav1.OwnerReference {
	if owner := metav1.GetControllerOf(pod); owner != nil {
		return []metav1.OwnerReference{*owner}
	}
	return nil
}

func containerNames(containers []corev1.Container) []corev1.Container {
	out := make([]corev1.Container, 0, len(containers))
	for _, c := range containers {
		out = append(out, corev1.Container{Name: c.Name})
	}
	return out
}

// injected reports whether the pod has the gateway's container: one of its name that injection has put there. An app's own
// of that name governs nothing.
func injected(pod *corev1.Pod) bool {
	if pod.Annotations[sidecar.AnnotationContract] == "" {
		return false
	}
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for _, c := range list {
			if c.Name == sidecar.ContainerName {
				return true
			}
		}
	}
	return false
}

// candidates are the pods a policy can be meant for: running or about to, and not opted out. Where only
// some pods of a namespace are labelled, the others are nobody's oversight; where none is, all are.
func candidates(pods []corev1.Pod, namespaceOptedIn bool) []*corev1.Pod {
	var all, labelled []*corev1.Pod
	for i := range pods {
		pod := &pods[i]
		label := pod.Labels[v1alpha1.LabelInject]
		if !live(pod) || (label == v1alpha1.InjectDisabled && !injected(pod)) {
			continue
		}
		all = append(all, pod)
		if label == v1alpha1.InjectEnabled || injected(pod) {
			labelled = append(labelled, pod)
		}
	}
	if namespaceOptedIn || len(labelled) == 0 {
		return all
	}
	return labelled
}

func live(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp.IsZero() && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

// podFacts are what status needs of a pod.
func podFacts(pod *corev1.Pod, namespaceOptedIn bool) status.Pod {
	owner, job := workload.Of(pod)
	has := injected(pod)
	p := status.Pod{
		Name: pod.Name, UID: string(pod.UID), Owner: owner, OwnerJob: job, Created: pod.CreationTimestamp.Time,
		OptedIn:  namespaceOptedIn || pod.Labels[v1alpha1.LabelInject] == v1alpha1.InjectEnabled,
		Injected: has, Contract: pod.Annotations[sidecar.AnnotationContract],
		Unrouted: pod.Annotations[sidecar.AnnotationUnrouted], RoutingUnknown: pod.Annotations[sidecar.AnnotationRoutingUnknown],
	}
	p.NoImage, p.NotStarted = gatewayFacts(pod)
	if !has {
		p.Outcome = skippedFor(pod)
	}
	return p
}

// skippedFor is why injection left the pod alone, empty if it did not look at it. A template that was copied from an injected
// pod may say that it is.
func skippedFor(pod *corev1.Pod) string {
	outcome := pod.Annotations[sidecar.AnnotationOutcome]
	if reason, _, _ := strings.Cut(outcome, ":"); reason == string(inject.Injected) {
		return ""
	}
	return outcome
}
