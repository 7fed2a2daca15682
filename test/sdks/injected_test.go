// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sdks

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/inject"
	"github.com/headgate-dev/headgate/internal/sidecar"
	"github.com/headgate-dev/headgate/internal/testing/dataplane"
)

// environment is what injection makes of an app's own variables, with the address of g for the sidecar's.
func (s sdk) environment(t *testing.T, g *dataplane.Gateway) map[string]string {
	t.Helper()
	own := map[string]string{s.key: "sk-c4n4ryKey-none-yet"}
	if s.byHand != nil {
		for name, value := range s.byHand(g.URL + "/" + s.route()) {
			own[name] = value
		}
	}
	env := injected(t, own)
	for name, value := range env {
		env[name] = strings.Replace(value, "http://"+sidecar.DataAddress, g.URL, 1)
	}
	return env
}

// injected is a container's environment after injection.
func injected(t *testing.T, own map[string]string) map[string]string {
	t.Helper()
	c := corev1.Container{Name: "app"}
	for name, value := range own {
		c.Env = append(c.Env, corev1.EnvVar{Name: name, Value: value})
	}
	pod, outcome := inject.Inject(corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{c}}},
		inject.Params{Namespace: dataplane.Namespace, Image: "gateway", NativeSidecars: true})
	if outcome.Reason != inject.Injected {
		t.Fatalf("the pod was not injected: %+v", outcome)
	}
	env := map[string]string{}
	for _, e := range pod.Spec.Containers[0].Env {
		env[e.Name] = e.Value
	}
	return env
}

// TestVariablesOfTheMatrixAreThoseInjected keeps the table of SDKs and the facts of the dialects together.
func TestVariablesOfTheMatrixAreThoseInjected(t *testing.T) {
	for _, s := range all {
		facts, ok := dialect.ByName(string(s.dialect))
		if !ok || facts.Route != s.route() {
			t.Errorf("%s: there is no dialect %s", s.name, s.dialect)
		}
		set := injected(t, map[string]string{s.key: "sk"})[s.variable] != ""
		if set != (s.variable != "") {
			t.Errorf("%s: %s is injected: %t", s.name, s.variable, set)
		}
		if (s.variable == "") != (s.documented != "") || (s.variable == "") != (s.byHand != nil || s.inCode != nil) {
			t.Errorf("%s: it needs either a variable or what an app does by hand", s.name)
		}
	}
}
