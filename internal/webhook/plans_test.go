// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"fmt"
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/headgate-dev/headgate/internal/sidecar"
)

// plant is a ConfigMap of a plan's name with content of somebody's own.
func plant(namespace string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: sidecar.PlanConfigMap}, Data: map[string]string{"a": "evil"}}
}

// patchPlan sends a patch of a plan.
func patchPlan(t *testing.T, namespace string, kind types.PatchType, text string, options ...client.PatchOption) error {
	t.Helper()
	return env.Client.Patch(t.Context(), plant(namespace), client.RawPatch(kind, []byte(text)), options...)
}

// TestPlansAreWrittenInNoOtherWay: by no verb, no kind of patch and no detour through a deletion, an owner, a finalizer or another
// owner of the fields.
func TestPlansAreWrittenInNoOtherWay(t *testing.T) {
	namespace := env.Namespace(t, nil)
	manager, err := client.New(managerConfig(), client.Options{Scheme: env.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	awaitDenied(t, func() error { return env.Client.Create(t.Context(), plant(namespace), client.DryRunAll) })
	applied := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q,"namespace":%q},"data":{"a":"evil"}}`, sidecar.PlanConfigMap, namespace)
	tenant := []client.PatchOption{client.FieldOwner("tenant"), client.ForceOwnership}
	owned := plant(namespace)
	owned.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "kube-root-ca.crt", UID: "1"}}
	owned.Annotations = map[string]string{"headgate.dev/revision": "9"}
	binary := plant(namespace)
	binary.Data, binary.BinaryData = nil, map[string][]byte{sidecar.PlanKey: []byte("{}")}
	planting := map[string]func() error{
		"create":           func() error { return env.Client.Create(t.Context(), plant(namespace)) },
		"create, owned":    func() error { return env.Client.Create(t.Context(), owned.DeepCopy()) },
		"create, in bytes": func() error { return env.Client.Create(t.Context(), binary.DeepCopy()) },
		"create, of nothing": func() error {
			return env.Client.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: plant(namespace).ObjectMeta})
		},
		"apply": func() error { return patchPlan(t, namespace, types.ApplyPatchType, applied, tenant...) },
	}
	for how, do := range planting {
		if err := do(); !apierrors.IsForbidden(err) {
			t.Errorf("before the manager, by %s: %v", how, err)
		}
	}
	written := plant(namespace)
	written.Data, written.BinaryData = map[string]string{"a": "b"}, map[string][]byte{"x": {1}}
	if err := manager.Create(t.Context(), written); err != nil {
		t.Fatal(err)
	}
	for how, err := range map[string]error{
		"apply":           patchPlan(t, namespace, types.ApplyPatchType, applied, tenant...),
		"merge":           patchPlan(t, namespace, types.MergePatchType, `{"data":{"a":"evil"}}`),
		"merge, away":     patchPlan(t, namespace, types.MergePatchType, `{"data":null}`),
		"merge, and back": patchPlan(t, namespace, types.MergePatchType, `{"data":{"a":"b","c":"evil"},"metadata":{"labels":{"a":"b"}}}`),
		"strategic merge": patchPlan(t, namespace, types.StrategicMergePatchType, `{"binaryData":{"plan.json":"e30="}}`),
		"other bytes":     patchPlan(t, namespace, types.MergePatchType, `{"binaryData":{"x":"ZXZpbA=="}}`),
		"no bytes":        patchPlan(t, namespace, types.MergePatchType, `{"binaryData":null}`),
		"JSON":            patchPlan(t, namespace, types.JSONPatchType, `[{"op":"replace","path":"/data/a","value":"evil"}]`),
		"JSON, a move":    patchPlan(t, namespace, types.JSONPatchType, `[{"op":"move","from":"/data/a","path":"/data/b"}]`),
		"immutable":       patchPlan(t, namespace, types.MergePatchType, `{"immutable":true}`),
	} {
		if !apierrors.IsForbidden(err) {
			t.Errorf("by %s: %v", how, err)
		}
	}
	// What is no content is anybody's, and the manager goes on to write under it, also while a finalizer keeps what was deleted.
	if err := patchPlan(t, namespace, types.MergePatchType, `{"metadata":{"finalizers":["tenant.example/keep"],"annotations":{"a":"b"}}}`); err != nil {
		t.Errorf("a finalizer: %v", err)
	}
	if err := env.Client.Delete(t.Context(), plant(namespace)); err != nil {
		t.Errorf("delete: %v", err)
	}
	if err := patchPlan(t, namespace, types.MergePatchType, `{"data":{"a":"evil"}}`); !apierrors.IsForbidden(err) {
		t.Errorf("while it is being deleted: %v", err)
	}
	if err := manager.Patch(t.Context(), plant(namespace), client.RawPatch(types.MergePatchType, []byte(`{"data":{"a":"c"}}`))); err != nil {
		t.Errorf("the manager, while it is being deleted: %v", err)
	}
	got := &corev1.ConfigMap{}
	if err := env.Client.Get(t.Context(), client.ObjectKeyFromObject(written), got); err != nil || !maps.Equal(got.Data, map[string]string{"a": "c"}) || len(got.BinaryData) != 1 {
		t.Errorf("in the end it holds %v: %v", got.Data, err)
	}
	if err := patchPlan(t, namespace, types.MergePatchType, `{"metadata":{"finalizers":null}}`); err != nil {
		t.Error(err)
	}
	for how, do := range planting {
		if err := do(); !apierrors.IsForbidden(err) {
			t.Errorf("after it was deleted, by %s: %v", how, err)
		}
	}
}
