// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAStoreOfDeferredCallsAddsItsTwoArguments and nothing else: the password is named by its file, and where no store
// is set a pod is what it was before there was such a setting.
func TestAStoreOfDeferredCallsAddsItsTwoArguments(t *testing.T) {
	with, without := testParams(), testParams()
	variants["deferred-store"](&with)
	pod := readPod(t, "testdata/deferred-store.in.yaml")
	got, _ := Inject(pod, with)
	plain, _ := Inject(pod, without)
	want := append(slices.Clone(plain.Spec.InitContainers[0].Args),
		"--deferred-store="+with.DeferredStore, "--deferred-store-password-file=/etc/headgate/credentials/deferred-store-password")
	if diff := cmp.Diff(want, got.Spec.InitContainers[0].Args); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
	got.Spec.InitContainers[0].Args = plain.Spec.InitContainers[0].Args
	if diff := cmp.Diff(plain, got); diff != "" {
		t.Errorf("more than arguments differs (-without +with):\n%s", diff)
	}
	for _, arg := range plain.Spec.InitContainers[0].Args {
		if strings.Contains(arg, "deferred") {
			t.Errorf("without a store: %s", arg)
		}
	}
	if again, _ := Inject(plain, with); !cmp.Equal(again, plain) {
		t.Error("a pod that has its gateway was changed by the setting")
	}
}
