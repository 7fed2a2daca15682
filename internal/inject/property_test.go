// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/sidecar"
	_ "github.com/headgate-dev/headgate/internal/testing/seed"
)

// TestInjectTwiceIsOnce holds for any pod, with another webhook adding to it in between or not.
func TestInjectTwiceIsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawParams(t)
		before := drawPod(t)
		kept := before.DeepCopy()
		once, first := Inject(before, p)
		if diff := cmp.Diff(*kept, before); diff != "" {
			t.Fatalf("the pod passed in changed:\n%s", diff)
		}
		if rapid.Bool().Draw(t, "other webhook") {
			once.Spec.Containers = append(once.Spec.Containers, drawContainer(t, "mesh"))
			once.Spec.InitContainers = append([]corev1.Container{drawContainer(t, "mesh-init")}, once.Spec.InitContainers...)
			once, first = Inject(once, p)
		}
		twice, second := Inject(once, p)
		if diff := cmp.Diff(once, twice); diff != "" {
			t.Fatalf("the second injection changes (-first +second):\n%s", diff)
		}
		if diff := cmp.Diff(first, second); diff != "" {
			t.Fatalf("the second outcome differs (-first +second):\n%s", diff)
		}
	})
}

// TestPatchKeepsUnknownFields applies the edits to JSON in which every object carries a field that no
// type of ours knows, and expects just what Inject returned, with those fields where they were.
func TestPatchKeepsUnknownFields(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := drawPod(t)
		after, _ := Inject(before, drawParams(t))
		original := withUnknownFields(t, before)
		ops, err := json.Marshal(Diff(&before, &after))
		if err != nil {
			t.Fatal(err)
		}
		patch, err := jsonpatch.DecodePatch(ops)
		if err != nil {
			t.Fatal(err)
		}
		patched, err := patch.Apply(original)
		if err != nil {
			t.Fatalf("%v\n%s\n%s", err, ops, original)
		}
		var got corev1.Pod
		if err := json.Unmarshal(patched, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(roundTrip(t, after), got); diff != "" {
			t.Fatalf("patched pod differs (-injected +patched):\n%s", diff)
		}
		var tree map[string]any
		if err := json.Unmarshal(patched, &tree); err != nil {
			t.Fatal(err)
		}
		requireMarks(t, tree)
	})
}

const unknownField = "fieldOfTheFuture"

// withUnknownFields marks the pod's spec and each container with a field that carries its name.
func withUnknownFields(t *rapid.T, pod corev1.Pod) []byte {
	data, err := json.Marshal(pod)
	if err != nil {
		t.Fatal(err)
	}
	var tree map[string]any
	if err := json.Unmarshal(data, &tree); err != nil {
		t.Fatal(err)
	}
	spec := tree["spec"].(map[string]any)
	spec[unknownField] = "spec"
	eachContainer(spec, func(c map[string]any) { c[unknownField] = c["name"] })
	if data, err = json.Marshal(tree); err != nil {
		t.Fatal(err)
	}
	return data
}

func requireMarks(t *rapid.T, tree map[string]any) {
	spec := tree["spec"].(map[string]any)
	if spec[unknownField] != "spec" {
		t.Fatal("the pod's unknown field is lost")
	}
	eachContainer(spec, func(c map[string]any) {
		if mark, ok := c[unknownField]; c["name"] != sidecar.ContainerName && (!ok || mark != c["name"]) {
			t.Fatalf("container %v carries the unknown field of %v", c["name"], mark)
		}
	})
}

func eachContainer(spec map[string]any, do func(map[string]any)) {
	for _, key := range []string{"initContainers", "containers"} {
		containers, _ := spec[key].([]any)
		for _, c := range containers {
			do(c.(map[string]any))
		}
	}
}

func roundTrip(t *rapid.T, pod corev1.Pod) corev1.Pod {
	data, err := json.Marshal(pod)
	if err != nil {
		t.Fatal(err)
	}
	var out corev1.Pod
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func drawParams(t *rapid.T) Params {
	p := testParams()
	p.NativeSidecars = rapid.IntRange(0, 9).Draw(t, "native") > 0
	p.OpenShift = rapid.Bool().Draw(t, "openshift")
	if rapid.Bool().Draw(t, "store") {
		variants["deferred-store"](&p)
	}
	for _, name := range []string{"limit-range", "limit-range-pod"} {
		if rapid.IntRange(0, 4).Draw(t, name) == 0 {
			variants[name](&p)
		}
	}
	return p
}

func drawPod(t *rapid.T) corev1.Pod {
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Labels: map[string]string{v1alpha1.LabelInject: rapid.SampledFrom([]string{"", v1alpha1.InjectEnabled, v1alpha1.InjectEnabled, v1alpha1.InjectDisabled}).Draw(t, "label")},
		Annotations: rapid.SampledFrom([]map[string]string{
			nil,
			{"a/b~c": "d"},
			{sidecar.AnnotationUnrouted: "stale=X"},
			{sidecar.AnnotationAllowHostNetwork: "true"},
			{sidecar.AnnotationBaseURLs: sidecar.BaseURLsByApp},
		}).Draw(t, "annotations"),
	}}
	pod.Annotations = cloned(pod.Annotations)
	pod.Spec.HostNetwork = rapid.IntRange(0, 5).Draw(t, "host network") == 0
	for i := range rapid.IntRange(0, 3).Draw(t, "init") {
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, drawContainer(t, "init-"+string(rune('a'+i))))
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "containers") {
		pod.Spec.Containers = append(pod.Spec.Containers, drawContainer(t, "app-"+string(rune('a'+i))))
	}
	if rapid.IntRange(0, 3).Draw(t, "pod resources") == 0 {
		all := amounts("1", "1Gi", "1Gi")
		delete(all, corev1.ResourceEphemeralStorage)
		pod.Spec.Resources = &corev1.ResourceRequirements{Limits: all, Requests: corev1.ResourceList{corev1.ResourceCPU: all[corev1.ResourceCPU]}}
	}
	if rapid.Bool().Draw(t, "volume") {
		name := rapid.SampledFrom([]string{"data", "data", sidecar.VolumeState}).Draw(t, "volume name")
		pod.Spec.Volumes = []corev1.Volume{{Name: name}}
	}
	return pod
}

func cloned(m map[string]string) map[string]string {
	if m == nil {
		return nil
	}
	out := map[string]string{}
	for k, v := range m {
		out[k] = v
	}
	return out
}

func drawContainer(t *rapid.T, name string) corev1.Container {
	c := corev1.Container{Name: name, Image: "example/" + name}
	names := []string{
		"OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "HTTP_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "OTHER",
		"GOOGLE_GEMINI_BASE_URL", "AZURE_OPENAI_ENDPOINT", "OPENAI_API_VERSION", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
	}
	values := []string{"", "*", "https://api.openai.com/v1", "http://127.0.0.1:15080/openai/v1", "$(X)", "a.example, localhost", "::1"}
	for range rapid.IntRange(0, 4).Draw(t, "env") {
		e := corev1.EnvVar{Name: rapid.SampledFrom(names).Draw(t, "name"), Value: rapid.SampledFrom(values).Draw(t, "value")}
		if e.Value == "*" && rapid.Bool().Draw(t, "value from") {
			e.Value, e.ValueFrom = "", &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{Key: "k"}}
		}
		c.Env = append(c.Env, e)
	}
	for range rapid.IntRange(0, 2).Draw(t, "env from") {
		c.EnvFrom = append(c.EnvFrom, corev1.EnvFromSource{
			Prefix:    rapid.SampledFrom([]string{"", "APP_", "OPENAI_"}).Draw(t, "prefix"),
			SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}},
		})
	}
	if rapid.Bool().Draw(t, "guaranteed") {
		c.Resources.Limits = amounts("1", "1Gi", "1Gi")
	}
	if rapid.IntRange(0, 3).Draw(t, "always") == 0 {
		always := corev1.ContainerRestartPolicyAlways
		c.RestartPolicy = &always
	}
	return c
}

// BenchmarkInject is what admission costs beside decoding.
func BenchmarkInject(b *testing.B) {
	pod, p := readBenchmarkPod(b), testParams()
	b.ReportAllocs()
	for b.Loop() {
		Inject(pod, p)
	}
}

// BenchmarkInjectAndDiff adds the patch.
func BenchmarkInjectAndDiff(b *testing.B) {
	pod, p := readBenchmarkPod(b), testParams()
	b.ReportAllocs()
	for b.Loop() {
		after, _ := Inject(pod, p)
		Diff(&pod, &after)
	}
}

func readBenchmarkPod(b *testing.B) corev1.Pod {
	b.Helper()
	return corev1.Pod{Spec: corev1.PodSpec{
		InitContainers: []corev1.Container{{Name: "init"}},
		Containers:     []corev1.Container{{Name: "app"}, {Name: "proxied", Env: []corev1.EnvVar{{Name: "HTTP_PROXY", Value: "x"}}}},
		Volumes:        []corev1.Volume{{Name: "data"}},
	}}
}
