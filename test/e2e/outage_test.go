// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/test/demo/load"
)

// webhookTimeout is how long the API server waits for injection; the rest is a slow machine's.
const webhookTimeout, margin = 3 * time.Second, 5 * time.Second

// D1: without any manager, pods of namespaces that asked for injection still start, gateways go on serving, and what
// was missed is counted and named once a manager is back.
//
// Fault D1: With the webhook gone no pod in the cluster could be created, the webhook's own among them.
// Headgate: Pods start without a gateway within the timeout, namespaces that did not ask and Headgate's own are never
// sent, and what was missed is counted and named afterwards.
func TestD1OperatorDownPodsStillStart(t *testing.T) {
	n := newTenant(t)
	n.apply(t, smallest)
	app := n.startApp(t, "before")
	n.eventually(t, time.Minute, "the first pod is governed", pods(1, 1, 1, 1))
	t.Cleanup(func() {
		if t.Failed() {
			mustScaleBack()
		}
	})
	scaleManager(t, 0)

	began := time.Now()
	bare := n.startPod(t, "missed", appSpec())
	took := time.Since(began)
	t.Logf("without a manager the pod was created in %s", took.Round(time.Millisecond))
	if took > webhookTimeout+margin || injected(bare) {
		t.Errorf("created in %s, injected %t", took, injected(bare))
	}
	mustKubectl(t, deployment("missed-too", 2), "apply", "-n", n.name, "-f", "-")
	missed := append(n.podsOf(t, "missed-too", 2), "missed")
	for range 5 {
		mustCall(t, app, load.Call{InputTokens: 100})
	}

	scaleManager(t, 2)
	n.eventually(t, time.Minute, "missed pods are counted and named", all(pods(4, 1, 1, 1),
		condition(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonPartlyGoverned),
		named(missed[0], "MissedByWebhook"), named(missed[1], "MissedByWebhook"), named(missed[2], "MissedByWebhook")))
	within(t, 30*time.Second, "an Event tells", n.told(v1alpha1.EventPodsNotInjected, "3 of 4"))

	mustKubectl(t, "", "delete", "pod", "missed", "-n", n.name, "--grace-period=1")
	var restarted time.Time
	n.eventually(t, 90*time.Second, "the restart that status asks for governs them", func(s *v1alpha1.RateLimitPolicyStatus) error {
		err := pods(3, 3, 3, 3)(s)
		// Injection fails open: a pod made while the second replica comes up may be missed once more, and status
		// asks for another restart.
		if err != nil && time.Since(restarted) > 25*time.Second {
			restarted = time.Now()
			mustKubectl(t, "", "rollout", "restart", "deployment/missed-too", "-n", n.name)
		}
		return err
	})
}

// mustScaleBack leaves a manager for the tests that follow, whatever this one came to.
func mustScaleBack() {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"replicas":2}}`))
	_ = api.Patch(ctx, managerObject(), patch)
}

// told holds once an Event of the policy with this reason says so.
func (n tenant) told(reason, text string) func(context.Context) error {
	return func(ctx context.Context) error {
		var list corev1.EventList
		if err := api.List(ctx, &list, client.InNamespace(n.name)); err != nil {
			return err
		}
		var seen []string
		for i := range list.Items {
			e := &list.Items[i]
			if e.InvolvedObject.Kind != "RateLimitPolicy" {
				continue
			}
			if e.Reason == reason && strings.Contains(e.Message, text) {
				return nil
			}
			seen = append(seen, e.Reason+": "+e.Message)
		}
		return fmt.Errorf("no Event %s with %q among %q", reason, text, seen)
	}
}
