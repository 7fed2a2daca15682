// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/testing/controlplane"
)

// statusWriter writes statuses of policies on an API server where no controller does.
type statusWriter struct {
	t   *testing.T
	env *controlplane.Env
}

func (w statusWriter) create(namespace string) *v1alpha1.RateLimitPolicy {
	w.t.Helper()
	p := &v1alpha1.RateLimitPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "default", Namespace: namespace},
		Spec:       v1alpha1.RateLimitPolicySpec{Providers: []v1alpha1.Provider{{Name: "anthropic"}}},
	}
	if err := w.env.Client.Create(w.t.Context(), p); err != nil {
		w.t.Fatal(err)
	}
	return p
}

func (w statusWriter) edit(p *v1alpha1.RateLimitPolicy, path, value string) {
	w.t.Helper()
	body := fmt.Appendf(nil, `[{"op":"add","path":%q,"value":%s}]`, path, value)
	if err := w.env.Client.Patch(w.t.Context(), p.DeepCopy(), client.RawPatch(types.JSONPatchType, body)); err != nil {
		w.t.Fatal(err)
	}
}

// write writes a status that is made from p as it was read.
func (w statusWriter) write(p *v1alpha1.RateLimitPolicy, at time.Time, reason string) error {
	w.t.Helper()
	changed, written := p.DeepCopy(), metav1.NewTime(at)
	changed.Status = v1alpha1.RateLimitPolicyStatus{ObservedGeneration: p.Generation, Conditions: []metav1.Condition{
		{Type: "Ready", Status: metav1.ConditionTrue, Reason: reason, LastTransitionTime: written},
	}}
	changed.Status.Summary.FiguresAt = &written
	patch, err := statusPatch(p, p.Status.Summary.FiguresAt, &changed.Status)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.env.Client.Status().Patch(w.t.Context(), changed, patch, client.FieldOwner(FieldOwner))
}

func (w statusWriter) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w statusWriter) get(namespace string) *v1alpha1.RateLimitPolicy {
	w.t.Helper()
	var p v1alpha1.RateLimitPolicy
	w.must(w.env.Client.Get(w.t.Context(), client.ObjectKey{Namespace: namespace, Name: "default"}, &p))
	return &p
}

// TestE4AStatusReplacesTheOneItWasMadeFrom: what others do to labels does not refuse it; another spec, another status and
// another object of the name do, as a conflict. A status that the schema refuses is no conflict.
func TestE4AStatusReplacesTheOneItWasMadeFrom(t *testing.T) {
	env := controlplane.Start(t, controlplane.Options{})
	first := time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		meanwhile func(w statusWriter, p *v1alpha1.RateLimitPolicy)
		reason    string // of the status that is written then
		conflict  bool
		want      string // the status that is there in the end
	}{
		"nothing":      {nil, "Second", false, "Second"},
		"a label":      {func(w statusWriter, p *v1alpha1.RateLimitPolicy) { w.edit(p, "/metadata/labels", `{"team":"a"}`) }, "Second", false, "Second"},
		"another spec": {func(w statusWriter, p *v1alpha1.RateLimitPolicy) { w.edit(p, "/spec/mode", `"Observe"`) }, "Second", true, "First"},
		"another status": {func(w statusWriter, p *v1alpha1.RateLimitPolicy) {
			w.must(w.write(p, first.Add(time.Second), "Newer"))
		}, "Second", true, "Newer"},
		"another object": {func(w statusWriter, p *v1alpha1.RateLimitPolicy) {
			w.must(w.env.Client.Delete(w.t.Context(), p.DeepCopy()))
			w.must(w.write(w.create(p.Namespace), first, "Newer"))
		}, "Second", true, "Newer"},
		"no status at all": {nil, "no reason", false, "First"},
	} {
		t.Run(name, func(t *testing.T) {
			w := statusWriter{t, env}
			ns := env.Namespace(t, nil)
			w.must(w.write(w.create(ns), first, "First"))
			p := w.get(ns)
			if tc.meanwhile != nil {
				tc.meanwhile(w, p)
			}
			err := w.write(p, first.Add(time.Minute), tc.reason)
			if (err == nil) != (tc.want == tc.reason) || err != nil && isConflict(err) != tc.conflict {
				t.Errorf("the second status: %v", err)
			}
			if got := condition(w.get(ns), "Ready").Reason; got != tc.want {
				t.Errorf("the status is %s, want %s", got, tc.want)
			}
		})
	}
}
