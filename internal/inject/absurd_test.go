// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestAbsurdPodsCostLittle: a pod of a megabyte whose proxy is made of thousands of variables kept a manager busy for twenty
// seconds, and its gateway repeated all of them, which made the pod too large for the API server.
func TestAbsurdPodsCostLittle(t *testing.T) {
	const many = 2000
	chain := []corev1.EnvVar{{Name: "HTTP_PROXY", Value: "$(V0)"}}
	for i := range many {
		chain = append(chain, corev1.EnvVar{Name: fmt.Sprintf("V%d", i), Value: fmt.Sprintf("$(V%d)", i+1)})
	}
	var wide strings.Builder
	var sources []corev1.EnvFromSource
	for i := range many {
		fmt.Fprintf(&wide, "$(W%d)", i)
		sources = append(sources, corev1.EnvFromSource{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: fmt.Sprintf("c%d", i)}}})
	}
	for name, app := range map[string]corev1.Container{
		"a chain of references":       {Env: chain},
		"a value of many references":  {Env: []corev1.EnvVar{{Name: "https_proxy", Value: wide.String()}}},
		"a long value":                {Env: []corev1.EnvVar{{Name: "HTTP_PROXY", Value: strings.Repeat("p", 2*maxRepeatedBytes)}}},
		"a name that is said again":   {Env: again("HTTP_PROXY", many)},
		"values that are long in sum": {Env: []corev1.EnvVar{{Name: "HTTP_PROXY", Value: strings.Repeat("p", maxRepeatedBytes)}, {Name: "NO_PROXY", Value: strings.Repeat("n", maxRepeatedBytes)}}},
		"sources by the thousand":     {EnvFrom: sources},
		"a reference said many times": {Env: []corev1.EnvVar{{Name: "HTTP_PROXY", Value: strings.Repeat("$(P)", maxRepeatedBytes)}, {Name: "P", Value: "p"}}},
	} {
		before := corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{app}}}
		after, outcome := Inject(before, testParams())
		if outcome.Reason != Injected {
			t.Fatalf("%s: %+v", name, outcome)
		}
		gateway, err := json.Marshal(after.Spec.InitContainers[0])
		if err != nil {
			t.Fatal(err)
		}
		if len(gateway) > 2*maxRepeatedBytes {
			t.Errorf("%s: the gateway's container takes %d bytes, with %d variables", name, len(gateway), len(after.Spec.InitContainers[0].Env))
		}
	}
}

// TestManySourcesHideNoProxy: what an app states goes on to count beside any number of sources, and of these the last ones do.
func TestManySourcesHideNoProxy(t *testing.T) {
	var sources []corev1.EnvFromSource
	for i := range 40 {
		sources = append(sources, corev1.EnvFromSource{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: fmt.Sprintf("c%d", i)}}})
	}
	pod := corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{
		Env: []corev1.EnvVar{{Name: "HTTPS_PROXY", Value: "http://proxy"}}, EnvFrom: sources,
	}}}}
	after, _ := Inject(pod, testParams())
	gateway := &after.Spec.InitContainers[0]
	if e := lastEnv(gateway, "HTTPS_PROXY"); e == nil || e.Value != "http://proxy" {
		t.Errorf("the gateway has the proxy %+v", e)
	}
	e := lastEnv(gateway, "HTTP_PROXY")
	if e == nil || e.ValueFrom == nil || e.ValueFrom.ConfigMapKeyRef == nil || e.ValueFrom.ConfigMapKeyRef.Name != "c39" {
		t.Errorf("of the sources the last for a proxy is %+v", e)
	}
}

func again(name string, times int) []corev1.EnvVar {
	out := make([]corev1.EnvVar, times)
	for i := range out {
		out[i] = corev1.EnvVar{Name: name, Value: fmt.Sprintf("http://proxy-%d", i)}
	}
	return out
}
