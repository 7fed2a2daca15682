// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/headgate-dev/headgate/internal/figures"
)

// cachedPods implements coordinator.Pods over the cache.
type cachedPods struct{ reader client.Reader }

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
