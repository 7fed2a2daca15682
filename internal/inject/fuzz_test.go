// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"

	"github.com/headgate-dev/headgate/api/v1alpha1"
)

// FuzzInject: whatever pod the API server sends, injecting it twice is injecting it once, and the edits make of what was sent
// just what was injected.
func FuzzInject(f *testing.F) {
	for _, seed := range []string{
		"{}",
		`{"metadata":{"labels":{"` + v1alpha1.LabelInject + `":"enabled"},"annotations":{"a/b~c":"d"}},"spec":{"containers":[{"name":"app"}]}}`,
		`{"metadata":{"labels":null},"spec":{"initContainers":[{"name":"headgate-gateway"},{"name":"headgate-gateway"}],"containers":[{"name":"app","env":[{"name":"OPENAI_BASE_URL","value":"http://localhost:15080/openai"},{"name":"NO_PROXY","valueFrom":{}}],"envFrom":[{"prefix":"O"}]}],"volumes":[{"name":"headgate-plan"}]}}`,
		`{"spec":{"hostNetwork":true,"containers":[{"name":"app","resources":{"limits":{"memory":"-1"}},"ports":[{"containerPort":15080,"hostPort":-5}]}]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var pod corev1.Pod
		if json.Unmarshal(raw, &pod) != nil {
			return
		}
		kept := pod.DeepCopy()
		after, first := Inject(pod, testParams())
		if diff := cmp.Diff(*kept, pod); diff != "" {
			t.Fatalf("the pod passed in changed:\n%s", diff)
		}
		if again, second := Inject(after, testParams()); cmp.Diff(after, again) != "" || cmp.Diff(first, second) != "" {
			t.Fatalf("the second injection changes:\n%s%s", cmp.Diff(after, again), cmp.Diff(first, second))
		}
		operations, err := json.Marshal(Diff(&pod, &after))
		if err != nil {
			t.Fatal(err)
		}
		patch, err := jsonpatch.DecodePatch(operations)
		if err != nil {
			t.Fatal(err)
		}
		// The API server sends what it has read, and that has all lists and maps that are not empty.
		sent, err := json.Marshal(pod)
		if err != nil {
			t.Fatal(err)
		}
		if json.Unmarshal(sent, &corev1.Pod{}) != nil {
			return // it has a time that Kubernetes writes and does not read
		}
		patched, err := patch.Apply(sent)
		if err != nil {
			t.Fatalf("%v\n%s\n%s", err, operations, sent)
		}
		var got, want corev1.Pod
		if err := json.Unmarshal(patched, &got); err != nil {
			t.Fatal(err)
		}
		if sent, err = json.Marshal(after); err != nil || json.Unmarshal(sent, &want) != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-injected +patched):\n%s", diff)
		}
	})
}
