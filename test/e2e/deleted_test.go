// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestD1DeletedManagersComeBackByThemselves: nobody but the webhook's own pods could answer for them, and it is not asked.
func TestD1DeletedManagersComeBackByThemselves(t *testing.T) {
	n := newTenant(t)
	n.apply(t, smallest)
	before, err := managers(t.Context())
	if err != nil || len(before) == 0 {
		t.Fatalf("managers %v: %v", before, err)
	}
	gone := map[string]bool{}
	for i := range before {
		gone[string(before[i].UID)] = true
		if err := api.Delete(t.Context(), &before[i], client.GracePeriodSeconds(0)); client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
	}
	took := within(t, time.Minute, "others are ready", func(ctx context.Context) error {
		now, err := managers(ctx)
		if err != nil {
			return err
		}
		ready := 0
		for i := range now {
			for _, c := range now[i].Status.Conditions {
				if !gone[string(now[i].UID)] && c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
					ready++
				}
			}
		}
		if ready != len(before) {
			return fmt.Errorf("%d of %d are ready", ready, len(before))
		}
		return nil
	})
	t.Logf("%d managers were ready %s after all were deleted", len(before), took.Round(100*time.Millisecond))
	attempt := 0
	within(t, 30*time.Second, "pods are injected again", func(context.Context) error {
		attempt++
		if pod := n.startPod(t, fmt.Sprintf("after-%d", attempt), appSpec()); !injected(pod) {
			return fmt.Errorf("pod %s has no gateway", pod.Name)
		}
		return nil
	})
}
