// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/headgate-dev/headgate/test/demo/load"
)

// outage is how long a part of the cluster stays dead.
const outage = 6 * time.Second

// Whatever dies under load, what is lost is what docs say and no more, status tells the truth within a minute of the
// return, and at no moment does more reach the provider than the policy allows. The leader's death is
// TestE10LeaderKilledSharesSurvive.
func TestKillsUnderLoad(t *testing.T) {
	u := newUnderLoad(t)
	t.Run("all managers", func(t *testing.T) { u.mustNotNotice(t, 14, u.deleteManagers) })
	for _, part := range []string{apiServer, etcd, kubelet} {
		t.Run(part, func(t *testing.T) {
			u.mustNotNotice(t, 18, func(t *testing.T) {
				t.Helper()
				killPart(t, part)
				time.Sleep(outage)
				startPart(t, part)
			})
		})
	}
	t.Run("a gateway", u.gatewayDies)
	t.Run("the provider", u.providerDies)
}

// mustNotNotice kills what no call depends on: every call ends well, and arrives once.
func (u *underLoad) mustNotNotice(t *testing.T, seconds int64, kill func(*testing.T)) {
	t.Helper()
	before := len(u.arrivals(t))
	results := u.during(t, seconds, func() { kill(t) })
	for _, r := range results {
		mustLoseNothing(t, r)
	}
	u.mustTellTheTruth(t)
	u.mustArriveOnce(t, before, results)
}

// deleteManagers ends every manager at once, and returns when others are ready.
func (u *underLoad) deleteManagers(t *testing.T) {
	t.Helper()
	before, err := managers(t.Context())
	if err != nil || len(before) == 0 {
		t.Fatalf("managers %v: %v", before, err)
	}
	for i := range before {
		if err := api.Delete(t.Context(), &before[i], client.GracePeriodSeconds(0)); client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
	}
	scaleManager(t, int32(len(before))) //nolint:gosec // two
}

// gatewayDies: what is lost are the calls under way in that pod, and no others. They are charged.
func (u *underLoad) gatewayDies(t *testing.T) {
	u.slowStreams(t, 100*time.Millisecond)
	before := len(u.arrivals(t))
	var from, to time.Time
	results := u.during(t, 14, func() {
		app, err := u.pod(t.Context(), u.apps[0].Name)
		if err != nil {
			t.Fatal(err)
		}
		within(t, time.Minute, "calls are under way", underWay(app, 4))
		from = time.Now()
		killContainer(t, gatewayOf(t, app))
		u.untilRestarted(t, app)
		to = time.Now()
		t.Logf("the gateway ran again %s after it was killed", to.Sub(from).Round(100*time.Millisecond))
	})
	// An app finds out a moment later, and its SDK's own retries wait.
	mustLoseOnly(t, results[0], from, to.Add(time.Second))
	if results[0].FailedCalls() == 0 {
		t.Error("no call was lost: nothing is shown")
	}
	mustLoseNothing(t, results[1])
	u.mustTellTheTruth(t)
	arrivals := u.arrivals(t)
	if got, least := int64(len(arrivals)-before), load.Merge(results).OK; got < least {
		t.Errorf("%d calls arrived, %d ended well", got, least)
	}
	mustStayBelow(t, arrivals, loadPerMinute/60.0, loadBurst)
}

// underWay holds while an app has so many calls in flight.
func underWay(app *corev1.Pod, least int64) func(context.Context) error {
	return func(ctx context.Context) error {
		var r load.Result
		if err := get(ctx, appURL(app)+"/result", &r); err != nil {
			return err
		}
		if r.InFlight < least {
			return fmt.Errorf("%d in flight", r.InFlight)
		}
		return nil
	}
}

// untilRestarted waits until the gateway of a pod runs in another container than before.
func (u *underLoad) untilRestarted(t *testing.T, was *corev1.Pod) {
	t.Helper()
	old := gatewayOf(t, was)
	within(t, time.Minute, "the gateway restarts", func(ctx context.Context) error {
		now, err := u.pod(ctx, was.Name)
		if err != nil {
			return err
		}
		if g := gatewayOf(t, now); g.ContainerID == old.ContainerID || g.State.Running == nil {
			return fmt.Errorf("gateway %+v", g)
		}
		return nil
	})
}

// providerDies: calls wait or are told that nobody answers, by the policy; none is taken for answered that was not;
// the gateways live on, and the provider finds no burst when it is back.
func (u *underLoad) providerDies(t *testing.T) {
	var from, to time.Time
	results := u.during(t, 16, func() {
		provider := theProvider(t)
		from = time.Now()
		killContainer(t, provider.Status.ContainerStatuses[0])
		within(t, time.Minute, "the provider is back", func(ctx context.Context) error {
			now := theProvider(t)
			if s := now.Status.ContainerStatuses; len(s) != 1 || !s[0].Ready || s[0].ContainerID == provider.Status.ContainerStatuses[0].ContainerID {
				return errors.New("not ready yet")
			}
			return get(ctx, providerAdmin(t)+"/_fake/healthz", nil)
		})
		to = time.Now()
		t.Logf("the provider was back %s after it was killed", to.Sub(from).Round(100*time.Millisecond))
	})
	for _, r := range results {
		mustLoseOnly(t, r, from, to.Add(time.Second))
	}
	u.mustTellTheTruth(t)
	mustStayBelow(t, u.arrivals(t), loadPerMinute/60.0, loadBurst)
	for _, was := range u.apps {
		now, err := u.pod(t.Context(), was.Name)
		if err != nil || now.Status.ContainerStatuses[0].RestartCount != 0 {
			t.Errorf("the app of %s: %+v, %v", was.Name, now.Status.ContainerStatuses, err)
		}
	}
}

// theProvider is the simulated provider's pod.
func theProvider(t *testing.T) *corev1.Pod {
	t.Helper()
	var list corev1.PodList
	if err := api.List(t.Context(), &list, client.InNamespace(providerNamespace), client.MatchingLabels{"app": "provider"}); err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 1 || len(list.Items[0].Status.ContainerStatuses) != 1 {
		t.Fatalf("%d providers", len(list.Items))
	}
	return &list.Items[0]
}
