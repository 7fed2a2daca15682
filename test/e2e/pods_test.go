// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/test/demo/load"
)

func envVar(name, value string) corev1.EnvVar { return corev1.EnvVar{Name: name, Value: value} }

// named holds once the status names the pod, for a reason that begins so.
func named(pod, reason string) statusCheck {
	return func(s *v1alpha1.RateLimitPolicyStatus) error {
		if got := ungoverned(s, pod); !strings.HasPrefix(got, reason) {
			return fmt.Errorf("pod %s is ungoverned for %q, want %q", pod, got, reason)
		}
		return nil
	}
}

// D3: an init container's call goes through the gateway, which is there before it.
//
// Fault D3: Init containers had no proxy yet, or two sidecars waited for each other.
// Headgate: The gateway starts before the app's init containers, beside a mesh in either order, and its start needs no
// network.
func TestD3InitContainersCanCall(t *testing.T) {
	t.Parallel()
	n := newTenant(t)
	n.apply(t, smallest)
	spec := appSpec()
	spec.InitContainers = []corev1.Container{appContainer("warm-up", "call", "--tokens=100")}
	n.startPod(t, "app", spec)
	app := n.serving(t, "app")
	for _, c := range app.Status.InitContainerStatuses {
		if c.Name == "warm-up" && (c.State.Terminated == nil || c.State.Terminated.ExitCode != 0 || c.RestartCount != 0) {
			t.Errorf("init container: %+v, restarts %d", c.State, c.RestartCount)
		}
	}
	n.mustArrive(t, 1)
}

// D6: under the restricted pod security standard the pod is admitted, and really runs.
func TestD6RestrictedNamespaceRuns(t *testing.T) {
	t.Parallel()
	n := newTenant(t, "pod-security.kubernetes.io/enforce", "restricted", "pod-security.kubernetes.io/enforce-version", "latest")
	n.apply(t, smallest)
	app := n.startApp(t, "app")
	if !injected(app) {
		t.Fatal("the pod has no gateway")
	}
	mustCall(t, app, load.Call{InputTokens: 100})
	n.mustArrive(t, 1)
}

// D10: two hostNetwork pods on a node would fight for the gateway's ports: they run without one, and are named.
func TestD10HostNetworkIsSkippedWithReason(t *testing.T) {
	t.Parallel()
	n := newTenant(t)
	n.apply(t, smallest)
	for _, name := range []string{"first", "second"} {
		spec := appSpec("--listen=127.0.0.1:0")
		spec.HostNetwork = true
		if pod := n.startPod(t, name, spec); injected(pod) {
			t.Errorf("%s has a gateway", name)
		}
	}
	n.eventually(t, time.Minute, "both are named", all(named("first", "SkippedHostNetwork"), named("second", "SkippedHostNetwork")))
	within(t, time.Minute, "an Event tells", n.told(v1alpha1.EventPodsNotInjected, "SkippedHostNetwork"))
	within(t, time.Minute, "both run", func(ctx context.Context) error {
		for _, name := range []string{"first", "second"} {
			pod, err := n.pod(ctx, name)
			if err != nil || pod.Status.Phase != corev1.PodRunning || pod.Status.ContainerStatuses[0].RestartCount != 0 {
				return fmt.Errorf("%s: %+v, %w", name, pod.Status.ContainerStatuses, err)
			}
		}
		return nil
	})
}

// D13: policy and Deployment in the same second, in a new namespace: the pod does not wait for its plan, and has
// it later. A plan that is deleted is made again, and no call notices.
func TestD13PolicyAndDeploymentTogether(t *testing.T) {
	t.Parallel()
	n := newTenant(t)
	n.apply(t, smallest+"---"+deployment("app", 1))
	app := n.serving(t, n.podOf(t, "app"))
	took := n.startTime(t, app.Name)
	t.Logf("the app started %s after its pod was scheduled", took)
	if took > 5*time.Second {
		t.Error("that is more than 5s")
	}
	n.eventually(t, time.Minute, "the pod is governed", pods(1, 1, 1, 1))
	mustCall(t, app, load.Call{InputTokens: 100})

	was := n.plan(t)
	mustKubectl(t, "", "delete", "configmap", planConfigMap, "-n", n.name)
	within(t, 30*time.Second, "the plan is made again", func(ctx context.Context) error {
		now, err := n.readPlan(ctx)
		if err != nil || now.UID == was.UID {
			return fmt.Errorf("not yet: %w", err)
		}
		return nil
	})
	for range 10 {
		mustCall(t, app, load.Call{InputTokens: 100})
	}
	n.eventually(t, 30*time.Second, "still governed", pods(1, 1, 1, 1))
}

// startTime is how long the app's container took to start once the pod had a node. Both times are whole seconds.
func (n tenant) startTime(t *testing.T, name string) (took time.Duration) {
	t.Helper()
	within(t, 30*time.Second, "the app runs", func(ctx context.Context) error {
		pod, err := n.pod(ctx, name)
		if err != nil {
			return err
		}
		scheduled := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodScheduled })
		if s := pod.Status.ContainerStatuses; scheduled < 0 || len(s) != 1 || s[0].State.Running == nil {
			return fmt.Errorf("%+v", pod.Status)
		}
		took = pod.Status.ContainerStatuses[0].State.Running.StartedAt.Sub(pod.Status.Conditions[scheduled].LastTransitionTime.Time)
		return nil
	})
	return took
}

// endSpec is an app that makes one call and ends; restartPolicy Never.
func endSpec(args ...string) corev1.PodSpec {
	spec := appSpec(append([]string{"call"}, args...)...)
	spec.RestartPolicy = corev1.RestartPolicyNever
	spec.TerminationGracePeriodSeconds = ptr.To(int64(30))
	return spec
}
