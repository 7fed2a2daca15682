// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestE8AManagerThatIsAwayHoldsUpNoDeletion: whoever waits for what depends on an object puts a finalizer on it, and removes
// it by an update. Labels are free as well; specs are not judged by nobody.
func TestE8AManagerThatIsAwayHoldsUpNoDeletion(t *testing.T) {
	policy := newPolicy(env.Namespace(t, nil), "kept")
	account := newAccount("e8-kept")
	spec := map[client.Object]string{
		policy:  `{"spec":{"mode":"Observe"}}`,
		account: `{"spec":{"maxGateways":7}}`,
	}
	for o := range spec {
		o.SetFinalizers([]string{"example.com/waits"})
		if err := env.Client.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	defer front.set(forward)
	front.set(refuse)
	for o, edit := range spec {
		merge := func(body string) error {
			return env.Client.Patch(t.Context(), o, client.RawPatch(types.MergePatchType, []byte(body)))
		}
		if err := merge(edit); err == nil {
			t.Errorf("%T: an edit that nobody judged was taken", o)
		}
		if err := merge(`{"metadata":{"labels":{"a":"b"},"annotations":{"a":"b"}}}`); err != nil {
			t.Errorf("%T: a label: %v", o, err)
		}
		if err := env.Client.Delete(t.Context(), o); err != nil {
			t.Errorf("%T: delete: %v", o, err)
		}
		if err := merge(`{"metadata":{"finalizers":null}}`); err != nil {
			t.Errorf("%T: the finalizer stays: %v", o, err)
		}
		if err := env.Client.Get(t.Context(), client.ObjectKeyFromObject(o), o.DeepCopyObject().(client.Object)); client.IgnoreNotFound(err) != nil || err == nil {
			t.Errorf("%T is not gone: %v", o, err)
		}
	}
	front.set(forward)
	bad := newPolicy(policy.Namespace, "bad")
	if err := env.Client.Create(t.Context(), bad); err != nil {
		t.Fatal(err)
	}
	before := client.MergeFrom(bad.DeepCopy())
	bad.Spec.Providers[0].BaseURL = "ftp://api.example.com"
	if err := env.Client.Patch(t.Context(), bad, before); err == nil {
		t.Error("an edit without meaning was taken")
	}
}
