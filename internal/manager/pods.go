// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/headgate-dev/headgate/internal/figures"
	"github.com/headgate-dev/headgate/internal/sidecar"
)

// cachedPods implements coordinator.Pods over the cache.
type cachedPods struct{ reader client.Reader }

// Gateways returns the pods in which a gateway runs. Of one that is about to go the gateway says goodbye itself.
func (c cachedPods) Gateways(namespace string) (pods []figures.Pod) {
	var all corev1.PodList
	if err := c.reader.List(context.Background(), &all, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	for i := range all.Items {
		pod := &all.Items[i]
		if pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp.IsZero() && hasGateway(pod) {
			pods = append(pods, figures.Pod{Namespace: namespace, Name: pod.Name, UID: string(pod.UID)})
		}
	}
	return pods
}

// hasGateway is as the controller sees it: by the name, and by what injection notes.
func hasGateway(pod *corev1.Pod) bool {
	if pod.Annotations[sidecar.AnnotationContract] == "" {
		return false
	}
	is := func(c corev1.Container) bool { return c.Name == sidecar.ContainerName }
	return slices.ContainsFunc(pod.Spec.InitContainers, is) || slices.ContainsFunc(pod.Spec.Containers, is)
}

// Labels returns the labels of the very pod, not of another of its name.
func (c cachedPods) Labels(pod figures.Pod) (map[string]string, bool) {
	var found corev1.Pod
	key := client.ObjectKey{Namespace: pod.Namespace, Name: pod.Name}
	if err := c.reader.Get(context.Background(), key, &found, client.UnsafeDisableDeepCopy); err != nil {
		return nil, false
	}
	ended := found.Status.Phase == corev1.PodSucceeded || found.Status.Phase == corev1.PodFailed
	if string(found.UID) != pod.UID || ended {
		return nil, false
	}
	return found.Labels, true
}
