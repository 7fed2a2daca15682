// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/headgate-dev/headgate/internal/sidecar"
)

// olderKey is one that a version before this one wrote, and older what it wrote there.
const (
	olderKey = "plan-of-old.json"
	older    = "{}"
)

// appliedBy writes the older key as that manager applies it.
func appliedBy(t *testing.T, manager, namespace, name string) {
	t.Helper()
	cm := corev1ac.ConfigMap(name, namespace).WithData(map[string]string{olderKey: older})
	if err := env.Client.Apply(t.Context(), cm, client.FieldOwner(manager), client.ForceOwnership); err != nil {
		t.Fatal(err)
	}
}

// merged changes an object as kubectl edit does.
func merged(t *testing.T, namespace, name, patch string) {
	t.Helper()
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if err := env.Client.Patch(t.Context(), cm, client.RawPatch(types.MergePatchType, []byte(patch)), client.FieldOwner("kubectl-edit")); err != nil {
		t.Fatal(err)
	}
}

// writings are who wrote what into an object of ours before it was locked, and whether all of it is ours.
var writings = []struct {
	name  string
	write func(t *testing.T, namespace, name string)
	ours  bool
}{
	{"applied by an older version", func(t *testing.T, namespace, name string) {
		t.Helper()
		appliedBy(t, FieldOwner, namespace, name)
	}, true},
	{"created by an older version, with bytes", func(t *testing.T, namespace, name string) {
		t.Helper()
		cm := &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: map[string]string{olderKey: older},
			BinaryData: map[string][]byte{"plan.zst": {1}},
		}
		if err := env.Client.Create(t.Context(), cm, client.FieldOwner(FieldOwner)); err != nil {
			t.Fatal(err)
		}
	}, true},
	{"labelled by others", func(t *testing.T, namespace, name string) {
		t.Helper()
		appliedBy(t, FieldOwner, namespace, name)
		merged(t, namespace, name, `{"metadata":{"labels":{"team":"x"}}}`)
	}, true},
	{"changed by others", func(t *testing.T, namespace, name string) {
		t.Helper()
		appliedBy(t, FieldOwner, namespace, name)
		env.RunKubectl(t, "patch", "configmap", name, "-n", namespace, "--type=merge", "-p", `{"data":{"`+olderKey+`":"theirs"}}`)
	}, false},
	{"added to by others", func(t *testing.T, namespace, name string) {
		t.Helper()
		appliedBy(t, FieldOwner, namespace, name)
		merged(t, namespace, name, `{"data":{"notes.txt":"theirs"}}`)
	}, false},
	{"added to by others, in bytes", func(t *testing.T, namespace, name string) {
		t.Helper()
		appliedBy(t, FieldOwner, namespace, name)
		merged(t, namespace, name, `{"binaryData":{"notes.bin":"AAAA"}}`)
	}, false},
	{"applied by others as well", func(t *testing.T, namespace, name string) {
		t.Helper()
		appliedBy(t, FieldOwner, namespace, name)
		appliedBy(t, "kubectl", namespace, name)
	}, false},
	{"created by others", func(t *testing.T, namespace, name string) {
		t.Helper()
		env.RunKubectl(t, "create", "configmap", name, "-n", namespace, "--from-literal="+olderKey+"="+older)
	}, false},
	{"of nobody that is known", func(t *testing.T, namespace, name string) {
		t.Helper()
		appliedBy(t, FieldOwner, namespace, name)
		merged(t, namespace, name, `{"metadata":{"managedFields":[{}]}}`)
	}, false},
}

// lockedBefore makes an object of each writing, which is locked then, in a namespace of its own.
func lockedBefore(t *testing.T, name string) (made []*corev1.ConfigMap) {
	t.Helper()
	for _, w := range writings {
		ns := env.Namespace(t, nil)
		w.write(t, ns, name)
		merged(t, ns, name, `{"immutable":true}`)
		made = append(made, inNamespace(t, ns, name))
	}
	return made
}

// TestAnOlderVersionsKeyHoldsNoPlanUp: a locked object whose other keys are ours alone, by whatever version, is made anew. With a
// key that anybody else wrote, or that nobody knows the writer of, it stays as it is, and the policy says so.
func TestAnOlderVersionsKeyHoldsNoPlanUp(t *testing.T) {
	for _, name := range []string{sidecar.PlanConfigMap, sidecar.EnvConfigMap} {
		made := lockedBefore(t, name)
		for _, cm := range made {
			createPolicy(t, cm.Namespace)
		}
		for i, w := range writings {
			t.Run(name+" "+w.name, func(t *testing.T) { mustBeMadeAnew(t, made[i], w.ours) })
		}
	}
}

// createPolicy makes one without kubectl, which takes its time.
func createPolicy(t *testing.T, namespace string) {
	t.Helper()
	p := policyOf("default", "400k", 0)
	p.ObjectMeta = metav1.ObjectMeta{Namespace: namespace, Name: "default"}
	if err := env.Client.Create(t.Context(), &p); err != nil {
		t.Fatal(err)
	}
}

func inNamespace(t *testing.T, namespace, name string) *corev1.ConfigMap {
	t.Helper()
	cm, err := configMap(t.Context(), env.Client, namespace, name)
	if err != nil || cm == nil {
		t.Fatalf("no ConfigMap %s: %v", name, err)
	}
	return cm
}

func mustBeMadeAnew(t *testing.T, before *corev1.ConfigMap, anew bool) {
	t.Helper()
	if anew {
		mustBeStored(t, before.Namespace, hasPolicies(1))
	} else {
		mustBeTold(t, before.Namespace, "ConfigMap "+before.Name+": it is immutable and holds what is not Headgate's")
	}
	eventually(t, func() string {
		now, err := configMap(t.Context(), env.Client, before.Namespace, before.Name)
		if err != nil || now == nil {
			return fmt.Sprintf("there is none: %v", err)
		}
		_, still := now.Data[olderKey]
		if (now.UID != before.UID) != anew || still == anew || locked(now) == anew {
			return fmt.Sprintf("it holds %v, of UID %s after %s, locked %t", now.Data, now.UID, before.UID, locked(now))
		}
		return ""
	})
}

// TestAnOlderVersionsKeyGoesWithTheLastPolicy: nothing of ours stays behind, be it locked or not, and what is others' does.
func TestAnOlderVersionsKeyGoesWithTheLastPolicy(t *testing.T) {
	const mark = `{"metadata":{"labels":{"app.kubernetes.io/managed-by":"headgate"}}}`
	made := lockedBefore(t, sidecar.PlanConfigMap)
	open := env.Namespace(t, nil)
	appliedBy(t, FieldOwner, open, sidecar.PlanConfigMap)
	merged(t, open, sidecar.PlanConfigMap, mark)
	for _, cm := range made {
		merged(t, cm.Namespace, cm.Name, mark)
	}
	gone := func(namespace string) string {
		if cm, err := configMap(t.Context(), env.Client, namespace, sidecar.PlanConfigMap); err != nil || cm != nil {
			return fmt.Sprintf("the plan is still there: %v", err)
		}
		return ""
	}
	eventually(t, func() string { return gone(open) })
	for i, w := range writings {
		if w.ours {
			eventually(t, func() string { return gone(made[i].Namespace) })
		}
	}
	for i, w := range writings { // all were looked at by now, or are when this is
		if w.ours {
			continue
		}
		if _, err := reconciler.Reconcile(t.Context(), request(made[i].Namespace)); err != nil {
			t.Fatal(err)
		}
		if said := gone(made[i].Namespace); !strings.HasPrefix(said, "the plan is still there") {
			t.Errorf("%s: it is gone", w.name)
		}
	}
}
