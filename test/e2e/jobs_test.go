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
// Headgate: The gateway is a native sidecar and ends with its app, whatever the exit code, in Jobs, runs of CronJobs, bare
// pods and steps of workflows; a cluster that knows none gets no gateway, and the pod says why.
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
	n.startRun(t, "nightly", endSpec("--tokens=100"))
	tests := []struct {
		app   string
		phase corev1.PodPhase
		exit  int32
	}{{"good", corev1.PodSucceeded, 0}, {"bad", corev1.PodFailed, 1}, {"bare", corev1.PodSucceeded, 0}, {"again", corev1.PodSucceeded, 0}, {"nightly", corev1.PodSucceeded, 0}}
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
	n.mustEnd(t, "nightly-1", batchv1.JobComplete)
	n.mustEnd(t, "good", batchv1.JobComplete)
	n.mustEnd(t, "again", batchv1.JobComplete)
	n.mustEnd(t, "bad", batchv1.JobFailed)
	n.mustArrive(t, 4)
}

// TestD2StepsOfWorkflowsEnd: a step of Argo Workflows has a container beside the app's that waits for it and then has work of its
// own. The gateway serves until both have ended, of a step that fails as well, and ends with them.
func TestD2StepsOfWorkflowsEnd(t *testing.T) {
	t.Parallel()
	n := newTenant(t)
	n.apply(t, smallest)
	steps := map[string]int32{"fine": 0, "failed": 1}
	for name, exit := range steps {
		n.startPod(t, name, stepSpec([]string{"--tokens=100", "--tokens=900000"}[exit]))
	}
	for name, exit := range steps {
		pod := n.ended(t, name)
		main, wait := exitOf(pod.Status.ContainerStatuses, "main"), exitOf(pod.Status.ContainerStatuses, "wait")
		gateway := exitOf(pod.Status.InitContainerStatuses, gatewayContainer)
		if main == nil || wait == nil || gateway == nil {
			t.Fatalf("%s: main %+v, wait %+v, gateway %+v", name, main, wait, gateway)
		}
		if main.ExitCode != exit || wait.ExitCode != 0 || gateway.ExitCode != 0 {
			t.Errorf("%s: main ended with %d, wait with %d, the gateway with %d", name, main.ExitCode, wait.ExitCode, gateway.ExitCode)
		}
		if took := gateway.FinishedAt.Sub(wait.FinishedAt.Time); took < 0 || took > 30*time.Second {
			t.Errorf("%s: the gateway ended %s after the last container", name, took)
		}
	}
	n.mustArrive(t, 3)
}

// stepSpec is a pod as Argo's emissary executor makes it: main writes its exit code into a volume of both, and wait looks for
// it there, then calls out once more, as for what a step leaves behind.
func stepSpec(args ...string) corev1.PodSpec {
	const at, code = "/var/run/argo", "/var/run/argo/exitcode"
	spec := endSpec()
	shared := corev1.VolumeMount{Name: "var-run-argo", MountPath: at}
	spec.Volumes = append(spec.Volumes, corev1.Volume{Name: shared.Name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	spec.Containers = []corev1.Container{
		appContainer("wait", "call", "--tokens=100", "--after="+code),
		appContainer("main", append([]string{"call", "--exit-code-to=" + code}, args...)...),
	}
	for i := range spec.Containers {
		spec.Containers[i].VolumeMounts = append(spec.Containers[i].VolumeMounts, shared)
	}
	return spec
}

// startRun makes a CronJob, and the run of it that nobody need wait a minute for.
func (n tenant) startRun(t *testing.T, name string, spec corev1.PodSpec) {
	t.Helper()
	create(t, &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: n.name},
		Spec: batchv1.CronJobSpec{Schedule: "0 0 1 1 *", JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{
			BackoffLimit: ptr.To(int32(0)),
			Template:     corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": name}}, Spec: spec},
		}}},
	})
	mustKubectl(t, "", "create", "job", name+"-1", "--from=cronjob/"+name, "-n", n.name)
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
