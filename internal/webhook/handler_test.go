// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/headgate-dev/headgate/internal/inject"
)

// failingReader is a cache that cannot answer; panics says how badly.
type failingReader struct {
	client.Reader
	panics bool
}

func (r failingReader) List(context.Context, client.ObjectList, ...client.ListOption) error {
	if r.panics {
		panic("boom")
	}
	return errors.New("cache not synced")
}

func podRequest(raw string) admission.Request {
	return admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		UID: "1", Operation: admissionv1.Create, Namespace: "team-a",
		Object: runtime.RawExtension{Raw: []byte(raw)},
	}}
}

func newInjector(reader client.Reader) *PodInjector {
	return NewPodInjector(Options{Params: inject.Params{Image: testImage, NativeSidecars: true}, Reader: reader})
}

const barePod = `{"metadata":{"generateName":"api-"},"spec":{"containers":[{"name":"app","image":"x"}]}}`

// TestPodsAreNeverRefused: whatever goes wrong in the handler, the answer is yes, and says so.
func TestPodsAreNeverRefused(t *testing.T) {
	tests := map[string]struct {
		reader      client.Reader
		raw         string
		wantPatched bool
	}{
		"cache down":            {failingReader{}, barePod, true},
		"panic":                 {failingReader{panics: true}, barePod, false},
		"not a pod":             {fake.NewClientBuilder().Build(), `[]`, false},
		"a field of a new type": {fake.NewClientBuilder().Build(), `{"spec":{"containers":"many"}}`, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			hook := &admission.Webhook{Handler: newInjector(tc.reader)}
			resp := hook.Handle(t.Context(), podRequest(tc.raw))
			if !resp.Allowed {
				t.Fatalf("refused: %v", resp.Result)
			}
			if patched := len(resp.Patch) > 0; patched != tc.wantPatched || patched == (len(resp.Warnings) > 0) {
				t.Errorf("patched %t, warnings %q", patched, resp.Warnings)
			}
		})
	}
}

// TestD5EmptyNamespaceInThePod: the pod says neither name nor namespace; the request's rules.
//
// Fault D5: A controller's pod has neither name nor namespace at admission, so the wrong policy was used, or none.
// Headgate: The request's namespace rules, logs say what the pod will be called by, and identity is the pod's own, read
// when it runs.
func TestD5EmptyNamespaceInThePod(t *testing.T) {
	ranges := &corev1.LimitRange{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "limits"},
		Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
			Type: corev1.LimitTypeContainer, Max: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("99Mi")},
		}}},
	}
	reader := fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithObjects(ranges).Build()
	var lines strings.Builder
	log := funcr.New(func(_, args string) { fmt.Fprintln(&lines, args) }, funcr.Options{Verbosity: 1})
	h := newInjector(reader)
	resp := h.Handle(logf.IntoContext(t.Context(), log), podRequest(barePod))
	patch, err := json.Marshal(resp.Patches)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(patch), `"memory":"99Mi"`) {
		t.Errorf("the namespace of the request was not used: %s", patch)
	}
	if !strings.Contains(lines.String(), "team-a/api-*") {
		t.Errorf("logged %s", lines.String())
	}
	h.opts.Params.ExcludedNamespaces = []string{"team-a"}
	if resp := h.Handle(t.Context(), podRequest(barePod)); len(resp.Warnings) != 1 || !strings.Contains(resp.Warnings[0], "SkippedNamespace") {
		t.Errorf("in an excluded namespace: %q", resp.Warnings)
	}
}

// TestD11OnlyCreateIsWorkedOn holds if somebody widens the configuration.
func TestD11OnlyCreateIsWorkedOn(t *testing.T) {
	h := newInjector(fake.NewClientBuilder().Build())
	update, binding := podRequest(barePod), podRequest(barePod)
	update.Operation, binding.SubResource = admissionv1.Update, "binding"
	for _, req := range []admission.Request{update, binding} {
		if resp := h.Handle(t.Context(), req); !resp.Allowed || len(resp.Patches) > 0 {
			t.Errorf("%s %s: %+v", req.Operation, req.SubResource, resp)
		}
	}
}

func TestD2HasNativeSidecars(t *testing.T) {
	tests := map[string]bool{"1.28": false, "1.29": true, "1.31+": true, "1.37": true, "2.0": true, "1.x": false, ".": false}
	for version, want := range tests {
		major, minor, _ := strings.Cut(version, ".")
		if got := hasNativeSidecars(major, minor); got != want {
			t.Errorf("hasNativeSidecars(%q) = %t, want %t", version, got, want)
		}
	}
}

// gathered is the value of a metric of the manager's registry, by its only label.
func gathered(t *testing.T, name, label string) float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == name && m.GetLabel()[0].GetValue() == label {
				return m.GetCounter().GetValue()
			}
		}
	}
	t.Fatalf("no metric %s of %s", name, label)
	return 0
}

// BenchmarkHandle is a whole admission: decoding, injection, patch.
func BenchmarkHandle(b *testing.B) {
	hook := &admission.Webhook{Handler: newInjector(fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).Build())}
	req := podRequest(barePod)
	b.ReportAllocs()
	for b.Loop() {
		if !hook.Handle(context.Background(), req).Allowed {
			b.Fatal("refused")
		}
	}
}
