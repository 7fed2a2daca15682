// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// D2: a pod that is meant to end does, soon after its app: the gateway never keeps it.
//
// Fault D2: A sidecar that never ends kept Jobs from completing.
// Headgate: The gateway is a native sidecar and ends with its app, whatever the exit code; a cluster that knows none
// gets no gateway, and the pod says why.
func TestD2JobsComplete(t *testing.T) {
	t.Parallel()
	n := newTenant(t)
	n.apply(t, smallest)
	tooLarge := "--tokens=900000" // more than the limit ever holds: refused, exit 1
	n.startJob(t, "good", endSpec("--tokens=100"))
	n.startJob(t, "bad", endSpec(tooLarge))
	n.startPod(t, "bare", endSpec("--tokens=100"))
	again := endSpec("--tokens=100")
	again.RestartPolicy = corev1.RestartPolicyOnFailure
	n.startJob(t, "again", again)
	tests := []struct {
		app   string
		phase corev1.PodPhase
		exit  int32
	}{{"good", corev1.PodSucceeded, 0}, {"bad", corev1.PodFailed, 1}, {"bare", corev1.PodSucceeded, 0}, {"again", corev1.PodSucceeded, 0}}
	for _, tc := range tests {
		pod := n.ended(t, tc.app)
		app := exitOf(pod.Status.ContainerStatuses, "app")
		gateway := exitOf(pod.Status.InitContainerStatuses, gatewayContainer)
		if app == nil || gateway == nil {
			t.Fatalf("%s: app %+v, gateway %+v", tc.app, app, gateway)
		}
		if pod.Status.Phase != tc.phase || app.ExitCode != tc.exit {
			t.Errorf("%s: %s, exit %d; want %s, %d", tc.app, pod.Status.Phase, app.ExitCode, tc.phase, tc.exit)
		}
		if gateway.ExitCode != 0 { // a Job's podFailurePolicy looks at it too
			t.Errorf("%s: the gateway ended with %d", tc.app, gateway.ExitCode)
		}
		took := gateway.FinishedAt.Sub(app.FinishedAt.Time)
		t.Logf("%s: the gateway ended %s after the app", tc.app, took)
		if took > 30*time.Second {
			t.Errorf("%s: the gateway ended %s after the app", tc.app, took)
		}
	}
	n.mustEnd(t, "good", batchv1.JobComplete)
	n.mustEnd(t, "again", batchv1.JobComplete)
	n.mustEnd(t, "bad", batchv1.JobFailed)
	n.mustArrive(t, 3)
}

func (n tenant) startJob(t *testing.T, name string, spec corev1.PodSpec) {
	t.Helper()
	create(t, &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: n.name},
		Spec: batchv1.JobSpec{BackoffLimit: ptr.To(int32(0)), Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": name}}, Spec: spec,
		}},
	})
}

// ended waits until the pod of an app is over: the bound is the time to start plus 30s.
func (n tenant) ended(t *testing.T, app string) *corev1.Pod {
	t.Helper()
	var list corev1.PodList
	within(t, 90*time.Second, app+" ends", func(ctx context.Context) error {
		if err := api.List(ctx, &list, client.InNamespace(n.name), client.MatchingLabels{"app": app}); err != nil || len(list.Items) != 1 {
			return fmt.Errorf("%d pods: %w", len(list.Items), err)
		}
		if p := list.Items[0].Status.Phase; p != corev1.PodSucceeded && p != corev1.PodFailed {
			return fmt.Errorf("phase %s", p)
		}
		return nil
	})
	return &list.Items[0]
}

// mustEnd waits for a Job's verdict.
func (n tenant) mustEnd(t *testing.T, name string, want batchv1.JobConditionType) {
	t.Helper()
	within(t, 30*time.Second, "Job "+name+" is "+string(want), func(ctx context.Context) error {
		var job batchv1.Job
		if err := api.Get(ctx, client.ObjectKey{Namespace: n.name, Name: name}, &job); err != nil {
			return err
		}
		for _, c := range job.Status.Conditions {
			if c.Type == want && c.Status == corev1.ConditionTrue {
				return nil
			}
		}
		return fmt.Errorf("conditions %+v", job.Status.Conditions)
	})
}

func exitOf(statuses []corev1.ContainerStatus, name string) *corev1.ContainerStateTerminated {
	for i := range statuses {
		if statuses[i].Name == name {
			return statuses[i].State.Terminated
		}
	}
	return nil
}
