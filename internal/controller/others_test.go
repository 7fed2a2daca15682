// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/sidecar"
)

// TestObjectsOfOthersThatHaveOurNamesStay: what was there before Headgate came is not deleted, where there is no policy nor
// where there was one. Beside it the plan stands while it is needed.
func TestObjectsOfOthersThatHaveOurNamesStay(t *testing.T) {
	theirs := map[string]string{"notes.txt": "theirs"}
	ns := env.Namespace(t, nil)
	for _, name := range []string{sidecar.PlanConfigMap, sidecar.EnvConfigMap} {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}, Data: theirs}
		if err := env.Client.Create(t.Context(), cm); err != nil {
			t.Fatal(err)
		}
	}
	applyPolicy(t, ns, "default", "", "400k")
	waitPlan(t, ns, "with one policy", hasPolicies(1))
	if got := planObject(t, ns); got.Data["notes.txt"] != "theirs" || !ours(got) {
		t.Errorf("the plan stands in %v", got.Data)
	}
	env.RunKubectl(t, "delete", "hgp", "default", "-n", ns)
	eventually(t, func() string {
		for _, name := range []string{sidecar.PlanConfigMap, sidecar.EnvConfigMap} {
			cm, err := configMap(t.Context(), env.Client, ns, name)
			if err != nil || cm == nil {
				t.Fatalf("%s of others is gone: %v", name, err)
			}
			if diff := cmp.Diff(theirs, cm.Data); diff != "" || ours(cm) {
				return fmt.Sprintf("%s is not as it was (-was +is): %s, labels %v", name, diff, cm.Labels)
			}
		}
		return ""
	})
}

// TestAPlanOfNoPolicyAnyMore: the last one was deleted while no manager ran.
func TestAPlanOfNoPolicyAnyMore(t *testing.T) {
	ns, others := env.Namespace(t, nil), env.Namespace(t, nil)
	left := func(namespace string, labels map[string]string) {
		cm := &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: sidecar.PlanConfigMap, Labels: labels},
			Data:       map[string]string{sidecar.PlanKey: `{"formatVersion":1,"revision":7}`},
		}
		if err := env.Client.Create(t.Context(), cm); err != nil {
			t.Fatal(err)
		}
	}
	left(others, nil)
	left(ns, managedBy)
	eventually(t, func() string {
		if cm, err := configMap(t.Context(), env.Client, ns, sidecar.PlanConfigMap); err != nil || cm != nil {
			return fmt.Sprintf("the plan is still there: %v", err)
		}
		return ""
	})
	if cm, err := configMap(t.Context(), env.Client, others, sidecar.PlanConfigMap); err != nil || cm == nil {
		t.Errorf("an object that nobody made ours is gone: %v", err)
	}
	// And with a gateway that still runs it, it is replaced by a newer one.
	createPod(t, others, "web", nil, true)
	p := waitPlan(t, others, "that is newer", func(p *plan.Plan) bool { return p.Revision > 0 && len(p.Policies) == 0 })
	if err := env.Client.Delete(t.Context(), planObject(t, others)); err != nil {
		t.Fatal(err)
	}
	waitPlan(t, others, "again", func(again *plan.Plan) bool { return again.Revision > p.Revision })
}
