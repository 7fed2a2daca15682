// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/figures"
)

// D17: pods that were missed are counted and named, and their owner is told of once.
//
// Fault D17: Pods were silently not injected, and nobody knew until the bill came.
// Headgate: Every matching pod without a gateway is counted, named with its reason and told once for its owner, within
// a minute and after a change of leader.
func TestD17MissedPodsAreCountedAndNamed(t *testing.T) {
	ns := env.Namespace(t, map[string]string{v1alpha1.LabelInject: v1alpha1.InjectEnabled})
	for i := range 12 {
		createPod(t, ns, fmt.Sprintf("missed-%02d", i), nil, false)
	}
	createPod(t, ns, "opted-out", map[string]string{v1alpha1.LabelInject: v1alpha1.InjectDisabled}, false)
	createPod(t, ns, "good", nil, true)
	applyPolicy(t, ns, "default", "", "400k")
	eventually(t, func() string {
		got := getPolicy(t, ns, "default").Status.Gateways
		return cmp.Diff([]int32{13, 1, 1, 10}, []int32{got.Matching, got.Injected, got.Governed, int32(len(got.Ungoverned))})
	})
	eventually(t, func() string {
		if n := testutil.CollectAndCount(reconciler.Collector(), "headgate_pods"); n < 6 {
			return fmt.Sprintf("%d series of pods", n)
		}
		return ""
	})
	eventually(t, func() string {
		if got := toldEvents(t, ns); !strings.Contains(got, "PodsNotInjected: 12 of 13 matching pods have no gateway, so nothing limits their calls. One of them: missed-") {
			return "events:\n" + got
		}
		return ""
	})
}

func TestNoPodGovernedIsNotReady(t *testing.T) {
	ns := env.Namespace(t, nil)
	createPod(t, ns, "web", nil, false)
	applyPolicy(t, ns, "default", "", "400k")
	eventually(t, func() string {
		got := getPolicy(t, ns, "default")
		if reason(got, "Ready") != "False/NoPodGoverned" || !strings.Contains(got.Status.Summary.NextStep, "kubectl label namespace "+ns) {
			return reason(got, "Ready") + ": " + got.Status.Summary.NextStep
		}
		return ""
	})
}

// Programmed follows the acknowledged generation of the policy itself, with no reconcile in between.
func TestProgrammedFollowsAcknowledgement(t *testing.T) {
	ns := env.Namespace(t, nil)
	createPod(t, ns, "web-0", nil, true)
	createPod(t, ns, "web-1", nil, true)
	applyPolicy(t, ns, "default", "", "400k")
	expect := func(want string) {
		t.Helper()
		eventually(t, func() string { return cmp.Diff(want, reason(getPolicy(t, ns, "default"), "Programmed")) })
	}
	expect("Unknown/NoReports")
	gateways.acknowledge(ns, "default", reporting(1, "web-0"))
	expect("True/Acknowledged")
	applyPolicy(t, ns, "default", "", "300k")
	expect("False/Pending")
	gateways.acknowledge(ns, "default", reporting(2, "web-0", "web-1"))
	expect("True/Acknowledged")
	if got := condition(getPolicy(t, ns, "default"), "Programmed"); got.ObservedGeneration != 2 || got.Message != "Generation 2 runs in all 2 reporting gateways." {
		t.Errorf("%+v", got)
	}
}

// E4: edits of the spec and writes of the status in a storm of both: no edit is lost, and the last status
// speaks of the last spec.
//
// Fault E4: Several writers fought over an object, and a status write put an older spec back.
// Headgate: Only the leader writes, status apart from spec, and a conflict is read anew: no edit is lost.
func TestE4StatusNeverOverwritesASpecEdit(t *testing.T) {
	ns := env.Namespace(t, nil)
	createPod(t, ns, "web", nil, true)
	applyPolicy(t, ns, "default", "", "1")
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := int64(0); ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond):
				f := reporting(i%50, "web")
				f.Lanes = []figures.LaneFigures{{Provider: "anthropic", Name: "default", Offered: i * 1000}}
				gateways.report(ns, "default", f)
			}
		}
	})
	const edits = 40
	for i := 1; i <= edits; i++ {
		patch := fmt.Appendf(nil, `[{"op":"replace","path":"/spec/providers/0/limits/0/amount","value":"%d"}]`, 1000+i)
		if err := env.Client.Patch(t.Context(), getPolicy(t, ns, "default"), client.RawPatch(types.JSONPatchType, patch)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
		if got := getPolicy(t, ns, "default").Spec.Providers[0].Limits[0].Amount.Value(); got != int64(1000+i) {
			t.Fatalf("edit %d was lost: amount is %d", i, got)
		}
	}
	close(stop)
	wg.Wait()
	eventually(t, func() string {
		got := getPolicy(t, ns, "default")
		return cmp.Diff([]int64{edits + 1, edits + 1}, []int64{got.Generation, got.Status.ObservedGeneration})
	})
}

// The CRD's schema accepts every status that Build can make of the richest figures.
func TestSchemaAcceptsAFullStatus(t *testing.T) {
	ns := env.Namespace(t, nil)
	createPod(t, ns, "web", nil, true)
	applyPolicy(t, ns, "default", "", "400k")
	f := reporting(1, "web")
	f.Limits = []figures.LimitFigures{{
		Provider: "anthropic", Name: "input-tokens", Binding: true, Remaining: 38_000, HeldForLanes: 37_000,
		Offered: figures.NewFlow(2_133_000, figures.Window), Used: figures.NewFlow(2e6, figures.Window),
		ProviderKnown: true, ProviderRemaining: 1.9e6, ProviderLimit: 2e6, UsedBy: []figures.PodShare{{Pod: "web", Fraction: 1}},
	}}
	f.Lanes = []figures.LaneFigures{{
		Provider: "anthropic", Name: "default", Offered: 680, Sent: 613, Refused: 67, RefusedMostlyFor: "Deadline",
		Queued: 3, QueuedOldest: 14 * time.Second, WaitMedian: 27 * time.Second, WaitWorst: 28 * time.Second,
	}}
	f.Providers = []figures.ProviderFigures{{Name: "anthropic", Calls: 613, Sends: 613, State: "Healthy"}}
	gateways.report(ns, "default", f)
	eventually(t, func() string {
		got := getPolicy(t, ns, "default")
		if reason(got, "Throttled") != "True/PolicyLimit" || got.Status.Limits[0].Offered != "427k" {
			return reason(got, "Throttled")
		}
		return ""
	})
	eventually(t, func() string {
		if got := toldEvents(t, ns); !strings.Contains(got, "PolicyLimit: anthropic/input-tokens: 427k/min offered, this policy allows 400k/min.") {
			return "events:\n" + got
		}
		return ""
	})
	columns := strings.Fields(env.RunKubectl(t, "get", "hgp", "default", "-n", ns, "--no-headers"))
	want := []string{"default", "Enforce", "True", "1/1", "True", "anthropic/input-tokens", "27s", "9.9%", "0.0%"}
	if diff := cmp.Diff(want, columns[:len(want)]); diff != "" {
		t.Error(diff)
	}
}
