// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/test/demo/load"
)

// A gateway that is killed comes back by itself, the app beside it goes on, and status counts it again.
func TestGatewayKilledRestartsAndServes(t *testing.T) {
	t.Parallel()
	n := newTenant(t)
	n.apply(t, smallest)
	app := n.startApp(t, "app")
	mustCall(t, app, load.Call{InputTokens: 100})
	n.eventually(t, time.Minute, "the gateway reports", pods(1, 1, 1, 1))
	within(t, 20*time.Second, "the call is reported", n.counted("headgate_upstream_sends_total", 1))

	killContainer(t, gatewayOf(t, app))
	began := time.Now()
	within(t, 30*time.Second, "the gateway restarts", func(ctx context.Context) error {
		now, err := n.pod(ctx, "app")
		if err != nil {
			return err
		}
		if g := gatewayOf(t, now); g.RestartCount != 1 || g.State.Running == nil {
			return fmt.Errorf("gateway %+v", g)
		}
		return nil
	})
	mustCall(t, app, load.Call{InputTokens: 100}) // the SDK's own retries may bridge the rest
	t.Logf("a call passed %s after the kill", time.Since(began).Round(time.Millisecond))
	n.eventually(t, time.Minute, "status counts it again", all(pods(1, 1, 1, 1),
		condition(v1alpha1.ConditionDegraded, metav1.ConditionFalse, v1alpha1.ReasonConnected)))
	within(t, 20*time.Second, "the manager has counted the calls of both its lives", n.counted("headgate_upstream_sends_total", 2))
	now, err := n.pod(t.Context(), "app")
	if err != nil || now.Status.ContainerStatuses[0].RestartCount != 0 {
		t.Errorf("the app: %+v, %v", now.Status.ContainerStatuses, err)
	}
	n.mustArrive(t, 2)
}

func gatewayOf(t *testing.T, pod *corev1.Pod) corev1.ContainerStatus {
	t.Helper()
	for _, c := range pod.Status.InitContainerStatuses {
		if c.Name == gatewayContainer {
			return c
		}
	}
	t.Fatalf("pod %s has no gateway: %+v", pod.Name, pod.Status.InitContainerStatuses)
	return corev1.ContainerStatus{}
}

// killContainer kills the processes in a container's cgroup, and no others: containers of a node that runs here are
// processes of this machine.
func killContainer(t *testing.T, c corev1.ContainerStatus) {
	t.Helper()
	_, id, ok := strings.Cut(c.ContainerID, "://")
	if !ok || len(id) < 32 {
		t.Fatalf("container id %q", c.ContainerID)
	}
	killed := 0
	files, _ := filepath.Glob("/proc/[0-9]*/cgroup")
	for _, file := range files {
		groups, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(groups), id) {
			continue // ended meanwhile, or another's
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		killed++
	}
	if killed == 0 {
		t.Fatalf("no process is in the cgroup of container %s", id)
	}
}
