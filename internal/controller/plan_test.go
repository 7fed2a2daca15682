// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/inject"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/sidecar"
)

func planObject(t *testing.T, namespace string) *corev1.ConfigMap {
	t.Helper()
	cm, err := configMap(t.Context(), env.Client, namespace, sidecar.PlanConfigMap)
	if err != nil || cm == nil {
		t.Fatalf("no plan: %v", err)
	}
	return cm
}

func TestSmallestPolicyBecomesAPlan(t *testing.T) {
	ns := env.Namespace(t, nil)
	applyPolicy(t, ns, "default", "", "400k")
	p := waitPlan(t, ns, "with one policy", hasPolicies(1))
	limit := p.Policies[0].Routes[0].Limits[0]
	if limit.Amount != 400_000 || limit.WindowSeconds != 60 || p.Policies[0].Routes[0].BaseURL != "https://api.anthropic.com" {
		t.Errorf("compiled to %+v", p.Policies[0])
	}
	eventually(t, func() string {
		if got := gateways.pushed(ns); got != p.Revision {
			return fmt.Sprintf("pushed revision %d, stored %d", got, p.Revision)
		}
		return ""
	})
	eventually(t, func() string {
		got := getPolicy(t, ns, "default")
		want := []string{"True/Valid", "True/NoMatchingPods", "True/NoMatchingPods", "False/Connected", "False/NotThrottled"}
		var reasons []string
		for _, c := range got.Status.Conditions {
			reasons = append(reasons, string(c.Status)+"/"+c.Reason)
		}
		return cmp.Diff(want, reasons)
	})
	eventually(t, func() string {
		cm, err := configMap(t.Context(), env.Client, ns, sidecar.EnvConfigMap)
		if err != nil || cm == nil {
			return fmt.Sprintf("no variables: %v", err)
		}
		return cmp.Diff(inject.EnvData(), cm.Data)
	})
}

func TestC12EditGetsANewRevisionAndTouchingDoesNot(t *testing.T) {
	ns := env.Namespace(t, nil)
	applyPolicy(t, ns, "default", "", "400k")
	first := waitPlan(t, ns, "with one policy", hasPolicies(1))

	env.RunKubectl(t, "annotate", "hgp", "default", "-n", ns, "touched=yes")
	time.Sleep(500 * time.Millisecond)
	if got := readPlan(t, ns); got.Revision != first.Revision {
		t.Errorf("an annotation made revision %d of %d", got.Revision, first.Revision)
	}

	applyPolicy(t, ns, "default", "", "300k")
	second := waitPlan(t, ns, "with 300k", func(p *plan.Plan) bool { return p.Policies[0].Routes[0].Limits[0].Amount == 300_000 })
	if second.Revision <= first.Revision {
		t.Errorf("revision %d follows %d", second.Revision, first.Revision)
	}
}

// D13: what somebody deletes comes back, with a revision that gateways take.
func TestD13DeletedPlanIsRecreated(t *testing.T) {
	ns := env.Namespace(t, nil)
	applyPolicy(t, ns, "default", "", "400k")
	first := waitPlan(t, ns, "with one policy", hasPolicies(1))
	for _, name := range []string{sidecar.PlanConfigMap, sidecar.EnvConfigMap} {
		eventually(t, func() string {
			out, err := env.TryKubectl(t, "delete", "configmap", name, "-n", ns)
			if err != nil {
				return out
			}
			return ""
		})
	}
	again := waitPlan(t, ns, "again", hasPolicies(1))
	if again.Revision <= first.Revision {
		t.Errorf("revision %d follows %d over a deletion", again.Revision, first.Revision)
	}
	eventually(t, func() string {
		if cm, err := configMap(t.Context(), env.Client, ns, sidecar.EnvConfigMap); err != nil || cm == nil {
			return "no variables again"
		}
		return ""
	})
}

// A forced apply to an immutable object fails for ever.
func TestImmutablePlanIsRecovered(t *testing.T) {
	ns := env.Namespace(t, nil)
	applyPolicy(t, ns, "default", "", "400k")
	waitPlan(t, ns, "with one policy", hasPolicies(1))
	before := planObject(t, ns)
	env.RunKubectl(t, "patch", "configmap", sidecar.PlanConfigMap, "-n", ns, "--type=merge", "-p", `{"immutable":true}`)
	applyPolicy(t, ns, "default", "", "300k")
	waitPlan(t, ns, "with 300k", func(p *plan.Plan) bool { return p.Policies[0].Routes[0].Limits[0].Amount == 300_000 })
	if after := planObject(t, ns); after.UID == before.UID || after.Immutable != nil {
		t.Errorf("the object was not made anew")
	}
}

func TestOverwrittenPlanIsRestored(t *testing.T) {
	ns := env.Namespace(t, nil)
	applyPolicy(t, ns, "default", "", "400k")
	first := waitPlan(t, ns, "with one policy", hasPolicies(1))
	env.RunKubectl(t, "patch", "configmap", sidecar.PlanConfigMap, "-n", ns, "--type=merge", "-p", `{"data":{"plan.json":"{"}}`)
	again := waitPlan(t, ns, "restored", hasPolicies(1))
	if again.Revision < first.Revision {
		t.Errorf("revision %d follows %d", again.Revision, first.Revision)
	}
}

// With gateways that still run it, the last policy's plan is replaced by an empty one; without, it goes.
func TestLastPolicyGone(t *testing.T) {
	ns := env.Namespace(t, nil)
	createPod(t, ns, "web", nil, true)
	applyPolicy(t, ns, "default", "", "400k")
	first := waitPlan(t, ns, "with one policy", hasPolicies(1))
	env.RunKubectl(t, "delete", "hgp", "default", "-n", ns)
	empty := waitPlan(t, ns, "without policies", hasPolicies(0))
	if empty.Revision <= first.Revision {
		t.Errorf("revision %d follows %d", empty.Revision, first.Revision)
	}
	eventually(t, func() string {
		if got := gateways.pushed(ns); got != empty.Revision {
			return fmt.Sprintf("pushed %d, stored %d", got, empty.Revision)
		}
		return ""
	})
	env.RunKubectl(t, "delete", "pod", "web", "-n", ns, "--force", "--grace-period=0")
	eventually(t, func() string {
		for _, name := range []string{sidecar.PlanConfigMap, sidecar.EnvConfigMap} {
			if cm, err := configMap(t.Context(), env.Client, ns, name); err != nil || cm != nil {
				return fmt.Sprintf("%s is still there: %v", name, err)
			}
		}
		return ""
	})
}

func TestOptedInNamespaceHasVariablesBeforeAnyPolicy(t *testing.T) {
	ns := env.Namespace(t, map[string]string{v1alpha1.LabelInject: v1alpha1.InjectEnabled})
	eventually(t, func() string {
		if cm, err := configMap(t.Context(), env.Client, ns, sidecar.EnvConfigMap); err != nil || cm == nil {
			return fmt.Sprintf("no variables: %v", err)
		}
		return ""
	})
	if readPlan(t, ns) != nil {
		t.Error("a plan without policies or gateways")
	}
}

func TestPrecedenceAndOverridden(t *testing.T) {
	ns := env.Namespace(t, nil)
	applyPolicy(t, ns, "a-older", "", "400k")
	applyPolicy(t, ns, "b-younger", "", "300k")
	applyPolicy(t, ns, "c-selecting", "app: web", "200k")
	p := waitPlan(t, ns, "with three", hasPolicies(3))
	if _, route, ok := p.Select(map[string]string{"app": "web"}, "anthropic"); !ok || route.Limits[0].Amount != 200_000 {
		t.Errorf("web is governed by %+v", route)
	}
	eventually(t, func() string {
		loser := getPolicy(t, ns, "b-younger")
		if got := reason(loser, v1alpha1.ConditionAccepted); got != "True/Overridden" {
			return "the younger is " + got
		}
		if winner := getPolicy(t, ns, "a-older"); reason(winner, v1alpha1.ConditionAccepted) != "True/Valid" {
			return "the older is " + reason(winner, v1alpha1.ConditionAccepted)
		}
		return ""
	})
}

// An invalid policy that passed the webhook by: refused in status and not in the plan; as an edit it keeps
// the last good generation in force.
func TestInvalidPolicyKeepsLastGood(t *testing.T) {
	ns := env.Namespace(t, nil)
	applyPolicy(t, ns, "default", "", "400k")
	waitPlan(t, ns, "with one policy", hasPolicies(1))
	p := getPolicy(t, ns, "default")
	// A dialect without a default URL and none given: the schema cannot tell, the meaning is missing. A patch,
	// since the status may be written in between.
	before := client.MergeFrom(p.DeepCopy())
	p.Spec.Providers[0].Name = "mine"
	if err := env.Client.Patch(t.Context(), p, before); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() string {
		got := getPolicy(t, ns, "default")
		return cmp.Diff(
			[]string{"False/Invalid", "False/Invalid", "False/Invalid", "Generation 1 stays in force."},
			[]string{reason(got, "Accepted"), reason(got, "Programmed"), reason(got, "Ready"), condition(got, "Ready").Message})
	})
	if got := readPlan(t, ns); len(got.Policies) != 1 || got.Policies[0].Generation != 1 {
		t.Errorf("the plan holds %+v", got.Policies)
	}
	fresh := p.DeepCopy()
	fresh.Name, fresh.ResourceVersion, fresh.UID = "fresh", "", ""
	if err := env.Client.Create(t.Context(), fresh); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() string {
		if got := getPolicy(t, ns, "fresh"); reason(got, "Accepted") != "False/Invalid" || condition(got, "Ready").Message != "The policy is not in force." {
			return reason(got, "Accepted") + " " + condition(got, "Ready").Message
		}
		return ""
	})
}

// New certificates reach every plan.
func TestNewBundleReachesPlans(t *testing.T) {
	ns := env.Namespace(t, nil)
	applyPolicy(t, ns, "default", "", "400k")
	waitPlan(t, ns, "with one policy", hasPolicies(1))
	gateways.mu.Lock()
	gateways.ca = testCA
	gateways.mu.Unlock()
	t.Cleanup(func() {
		gateways.mu.Lock()
		defer gateways.mu.Unlock()
		gateways.ca = ""
	})
	p := waitPlan(t, ns, "with the bundle", func(p *plan.Plan) bool { return p.CoordinatorCA == testCA })
	// And a process that has none yet does not take it away.
	if got := reconciler.bundle(p); got != testCA {
		t.Errorf("bundle is %q", got)
	}
}

// E8: nothing of ours holds up a namespace's end.
//
// Fault E8: Finalizers and webhooks of an operator that was gone kept namespaces from being deleted.
// Headgate: There are no finalizers, deletion is never sent to a webhook, undeploying removes the webhooks first, and
// running gateways go on with their last plan.
func TestE8NothingHoldsUpDeletion(t *testing.T) {
	ns := env.Namespace(t, nil)
	applyPolicy(t, ns, "default", "", "400k")
	waitPlan(t, ns, "with one policy", hasPolicies(1))
	env.RunKubectl(t, "delete", "namespace", ns, "--wait=false")
	env.RunKubectl(t, "delete", "hgp", "--all", "-n", ns, "--timeout=3m")
	env.RunKubectl(t, "delete", "configmap", "--all", "-n", ns, "--timeout=3m")
	time.Sleep(2 * podsSettle)
	var left v1alpha1.RateLimitPolicyList
	if err := env.Client.List(t.Context(), &left, client.InNamespace(ns)); err != nil || len(left.Items) > 0 {
		t.Errorf("%d policies are left: %v", len(left.Items), err)
	}
	if readPlan(t, ns) != nil {
		t.Error("the plan came back in a namespace that is going")
	}
	eventually(t, func() string {
		if revision, told := gateways.told(ns); !told || revision != 0 {
			return fmt.Sprintf("the coordinator keeps plan %d", revision)
		}
		if slices.Contains(reconciler.namespaces.names(), ns) {
			return "the controller remembers the namespace"
		}
		return ""
	})
}
