// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/headgate-dev/headgate/internal/sidecar"
)

// TestD17AnImageThatIsNotPulledIsFoundAndForgotten: by what the kubelet writes, and the cache keeps.
func TestD17AnImageThatIsNotPulledIsFoundAndForgotten(t *testing.T) {
	ns := env.Namespace(t, nil)
	applyPolicy(t, ns, "default", "", "400k")
	pod := createPod(t, ns, "private", nil, true)
	says := func(state corev1.ContainerState) {
		t.Helper()
		before := pod.DeepCopy()
		pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: sidecar.ContainerName, State: state}}
		if err := env.Client.Status().Patch(t.Context(), pod, client.MergeFrom(before)); err != nil {
			t.Fatal(err)
		}
	}
	ungoverned := func() string {
		var all []string
		for _, u := range getPolicy(t, ns, "default").Status.Gateways.Ungoverned {
			all = append(all, u.Name+" "+u.Reason)
		}
		return strings.Join(all, "; ")
	}
	says(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull"}})
	eventually(t, func() string {
		if got := ungoverned(); !strings.HasPrefix(got, "private GatewayImageNotPulled: ") {
			return fmt.Sprintf("ungoverned is %q", got)
		}
		return ""
	})
	eventually(t, func() string {
		if got := toldEvents(t, ns); !strings.Contains(got, "GatewayNotStarted: The gateway of private does not start") {
			return fmt.Sprintf("Events: %q", got)
		}
		return ""
	})
	says(corev1.ContainerState{Running: &corev1.ContainerStateRunning{}})
	eventually(t, func() string {
		if got := ungoverned(); got != "" {
			return fmt.Sprintf("ungoverned is %q", got)
		}
		return ""
	})
}
