// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write testdata/*.out.yaml")

func testParams() Params {
	return Params{
		Namespace:          "team-a",
		ExcludedNamespaces: []string{"kube-system", "headgate-system"},
		Image:              "example/gateway:v1",
		CoordinatorURL:     "https://headgate-coordinator.headgate-system.svc:9444",
		CoordinatorCA:      "-----BEGIN CERTIFICATE-----\n",
		NativeSidecars:     true,
	}
}

// variants are the golden cases whose cluster or namespace is not the usual one.
var variants = map[string]func(*Params){
	"excluded-namespace": func(p *Params) { p.Namespace = "kube-system" },
	"no-native-sidecars": func(p *Params) { p.NativeSidecars = false },
	"deferred-store": func(p *Params) {
		p.DeferredStore = "rediss://$(HEADGATE_NAMESPACE)@redis.platform.svc:6379"
	},
	"openshift": func(p *Params) { p.OpenShift = true },
	"limit-range": func(p *Params) {
		p.LimitRanges = []corev1.LimitRangeItem{{
			Type:                 corev1.LimitTypeContainer,
			Max:                  amounts("400m", "128Mi", "512Mi"),
			Min:                  amounts("10m", "96Mi", "1Mi"),
			MaxLimitRequestRatio: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("3"), corev1.ResourceEphemeralStorage: resource.MustParse("1.5")},
		}}
	},
	"limit-range-pod": func(p *Params) {
		p.LimitRanges = []corev1.LimitRangeItem{{
			Type: corev1.LimitTypePod,
			Max:  corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")},
		}}
	},
}

// TestGolden pins what injection makes of each kind of pod, and that doing it again changes nothing.
func TestGolden(t *testing.T) {
	inputs, err := filepath.Glob("testdata/*.in.yaml")
	if err != nil || len(inputs) == 0 {
		t.Fatalf("no inputs: %v", err)
	}
	for _, input := range inputs {
		name := strings.TrimSuffix(filepath.Base(input), ".in.yaml")
		t.Run(name, func(t *testing.T) {
			p := testParams()
			if vary := variants[name]; vary != nil {
				vary(&p)
			}
			before := readPod(t, input)
			after, outcome := Inject(before, p)
			again, outcomeAgain := Inject(after, p)
			if diff := cmp.Diff(after, again); diff != "" {
				t.Errorf("the second injection changes (-first +second):\n%s", diff)
			}
			if diff := cmp.Diff(outcome, outcomeAgain); diff != "" {
				t.Errorf("the second outcome differs (-first +second):\n%s", diff)
			}
			compareGolden(t, "testdata/"+name+".out.yaml", after)
		})
	}
}

func readPod(t *testing.T, path string) corev1.Pod {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var pod corev1.Pod
	if err := yaml.UnmarshalStrict(data, &pod); err != nil {
		t.Fatal(err)
	}
	return pod
}

func compareGolden(t *testing.T, path string, pod corev1.Pod) {
	t.Helper()
	got, err := yaml.Marshal(pod)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("differs from %s (-want +got):\n%s", path, cmp.Diff(string(want), string(got)))
	}
}
