// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/sidecar"
)

// mustBeTold waits until the policy's status says that the plan is not stored, why, and what to do.
func mustBeTold(t *testing.T, namespace, why string) {
	t.Helper()
	eventually(t, func() string {
		p := getPolicy(t, namespace, "default")
		got := condition(p, "Programmed")
		if reason(p, "Programmed") != "False/PlanNotStored" || !strings.Contains(got.Message, why) || !strings.Contains(p.Status.Summary.NextStep, why) {
			return fmt.Sprintf("%s: %s; next step: %s", reason(p, "Programmed"), got.Message, p.Status.Summary.NextStep)
		}
		return ""
	})
}

// mustBeStored waits until that is over.
func mustBeStored(t *testing.T, namespace string, satisfies func(*plan.Plan) bool) {
	t.Helper()
	waitPlan(t, namespace, "at last", satisfies)
	eventually(t, func() string {
		return cmp.Diff("True/NoMatchingPods", reason(getPolicy(t, namespace, "default"), "Programmed"))
	})
}

// TestSomebodyElsesImmutableObjectIsLeftAlone: it was there before any policy. It is not deleted, the policy says so, connected
// gateways have the plan, and when it goes the plan takes its place.
func TestSomebodyElsesImmutableObjectIsLeftAlone(t *testing.T) {
	for _, name := range []string{sidecar.PlanConfigMap, sidecar.EnvConfigMap} {
		t.Run(name, func(t *testing.T) {
			ns := env.Namespace(t, nil)
			cm := &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}, Data: map[string]string{"notes.txt": "theirs"}, Immutable: ptr.To(true),
			}
			if err := env.Client.Create(t.Context(), cm); err != nil {
				t.Fatal(err)
			}
			applyPolicy(t, ns, "default", "", "400k")
			mustBeTold(t, ns, "ConfigMap "+name+": it is immutable and holds what is not Headgate's")
			still, err := configMap(t.Context(), env.Client, ns, name)
			if err != nil || still == nil || still.UID != cm.UID || still.Data["notes.txt"] != "theirs" {
				t.Errorf("it is %+v, %v", still, err)
			}
			if gateways.pushed(ns) == 0 {
				t.Error("no gateway was told the plan")
			}
			if err := env.Client.Delete(t.Context(), cm); err != nil {
				t.Fatal(err)
			}
			mustBeStored(t, ns, hasPolicies(1))
		})
	}
}

// TestAPlanWithoutRoomIsTold: others filled its object, so that an edit is not stored. What is stored stays, what is theirs too;
// gateways get the edit once and not at each look, and an edit after it that is invalid leaves the last good one in force.
func TestAPlanWithoutRoomIsTold(t *testing.T) {
	ns := env.Namespace(t, nil)
	applyPolicy(t, ns, "default", "", "400k")
	first := waitPlan(t, ns, "with one policy", hasPolicies(1))
	fill := func(n int) {
		t.Helper()
		body := fmt.Appendf(nil, `[{"op":"add","path":"/data/notes.txt","value":%q}]`, strings.Repeat("x", n))
		if err := env.Client.Patch(t.Context(), planObject(t, ns), client.RawPatch(types.JSONPatchType, body)); err != nil {
			t.Fatal(err)
		}
	}
	object := planObject(t, ns)
	room := 1<<20 - len(object.Data[sidecar.PlanKey])
	fill(room - 1)
	applyPolicy(t, ns, "another", "app: web", "100k")
	mustBeTold(t, ns, "Too long")
	if got := planObject(t, ns); len(got.Data["notes.txt"]) != room-1 || got.UID != object.UID || readPlan(t, ns).Revision != first.Revision {
		t.Errorf("stored is revision %d beside %d bytes of theirs", readPlan(t, ns).Revision, len(got.Data["notes.txt"]))
	}
	edit := gateways.pushed(ns)
	if edit <= first.Revision {
		t.Errorf("gateways have revision %d, stored is %d", edit, first.Revision)
	}
	pushes := gateways.count(ns)
	createPod(t, ns, "bystander", map[string]string{"app": "other"}, false)
	eventually(t, func() string { // it is looked at again
		if gateways.count(ns) == pushes {
			return "nothing was pushed after a pod came"
		}
		return ""
	})
	if got := gateways.pushed(ns); got != edit {
		t.Errorf("another look made revision %d of %d", got, edit)
	}
	p := getPolicy(t, ns, "another")
	before := client.MergeFrom(p.DeepCopy())
	p.Spec.Providers[0].Name = "mine" // a dialect without a URL, which the schema cannot tell
	if err := env.Client.Patch(t.Context(), p, before); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() string {
		got := getPolicy(t, ns, "another")
		return cmp.Diff([]string{"False/Invalid", "Generation 1 stays in force."}, []string{reason(got, "Accepted"), condition(got, "Programmed").Message})
	})
	fill(0)
	waitPlan(t, ns, "with both", hasPolicies(2))
}

// TestAQuotaForConfigMapsIsTold: nothing tells that it is lifted, so the namespace is looked at again, and no error is made of it.
func TestAQuotaForConfigMapsIsTold(t *testing.T) {
	ns := env.Namespace(t, nil)
	none := corev1.ResourceList{"configmaps": resource.MustParse("0")}
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "none"}, Spec: corev1.ResourceQuotaSpec{Hard: none}}
	if err := env.Client.Create(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	quota.Status = corev1.ResourceQuotaStatus{Hard: none, Used: none} // as the quota controller does
	if err := env.Client.Status().Update(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	applyPolicy(t, ns, "default", "", "400k")
	mustBeTold(t, ns, "exceeded quota: none")
	if result, err := reconciler.Reconcile(t.Context(), request(ns)); err != nil || result.RequeueAfter <= 0 || result.RequeueAfter > storeRetry {
		t.Errorf("it is looked at again after %s, %v", result.RequeueAfter, err)
	}
	if err := env.Client.Delete(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	createPod(t, ns, "bystander", map[string]string{"app": "other"}, false) // which is a reason to look before that
	eventually(t, func() string {
		if readPlan(t, ns) == nil {
			return "no plan is stored"
		}
		return cmp.Diff("False/NoReports", reason(getPolicy(t, ns, "default"), "Programmed"))
	})
}
