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

	"github.com/headgate-dev/headgate/test/demo/load"
)

// The leader dies under load: no call fails for it, every gateway reports to the next one within a minute, and at no
// moment does more reach the provider than the policy allows.
func TestE10LeaderKilledSharesSurvive(t *testing.T) {
	const perMinute, burst = 600, 20
	n := newTenant(t)
	n.apply(t, requestsPolicy(perMinute, burst))
	apps := []*corev1.Pod{n.startApp(t, "first"), n.startApp(t, "second")}
	n.eventually(t, time.Minute, "both report", pods(2, 2, 2, 2))

	const seconds = 30
	for _, app := range apps {
		run := load.Run{Name: "leader", Seconds: seconds, CallsPerMinute: perMinute * 2 / 5, InputTokens: 50, DrainSeconds: 60}
		if err := post(t.Context(), appURL(app)+"/run", run, nil); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(10 * time.Second) // load before, during and after
	old := killLeader(t)
	took := within(t, time.Minute, "another leads", func(ctx context.Context) error {
		leader, err := leaderPod(ctx)
		if err != nil || leader == "" || leader == old {
			return fmt.Errorf("%q leads: %w", leader, err)
		}
		return nil
	})
	t.Logf("another led %s after the leader was killed", took.Round(100*time.Millisecond))
	var all load.Result
	for _, app := range apps {
		got := loadEnded(t, app)
		if got.FailedCalls() != 0 || got.OK != got.Calls || got.Calls == 0 {
			t.Errorf("calls of pod %s: %+v", app.Name, got.Failed)
		}
		all = load.Merge([]load.Result{all, got})
	}
	t.Logf("%d calls, longest wait %.0f ms", all.OK, load.Percentile(all.WaitsMillis, 1))
	n.eventually(t, time.Minute, "both report to the new leader", pods(2, 2, 2, 2))
	arrivals := n.arrivals(t)
	if int64(len(arrivals)) != all.OK {
		t.Errorf("%d calls arrived, %d ended well", len(arrivals), all.OK)
	}
	mustStayBelow(t, arrivals, perMinute/60.0, burst)
	scaleManager(t, 2)
}

// killLeader deletes the leader's pod without grace, and returns its name.
func killLeader(t *testing.T) string {
	t.Helper()
	leader, err := leaderPod(t.Context())
	if err != nil || leader == "" {
		t.Fatalf("no leader: %v", err)
	}
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name = systemNamespace, leader
	if err := api.Delete(t.Context(), pod, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	return leader
}

// loadEnded waits for the end of a pod's load.
func loadEnded(t *testing.T, app *corev1.Pod) load.Result {
	t.Helper()
	var got load.Result
	within(t, 2*time.Minute, "the load of "+app.Name+" ends", func(ctx context.Context) error {
		got = load.Result{}
		if err := get(ctx, appURL(app)+"/result", &got); err != nil {
			return err
		}
		if got.State != load.Done {
			return fmt.Errorf("%d of %d calls", got.OK, got.Calls)
		}
		return nil
	})
	return got
}
