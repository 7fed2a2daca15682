// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/figures"
	"github.com/headgate-dev/headgate/internal/inject"
	"github.com/headgate-dev/headgate/internal/sidecar"
)

// stillness is a reconciler on a clock and a store of its own, which counts what is written.
type stillness struct {
	*Reconciler
	t        *testing.T
	now      time.Time
	writes   []string
	gateways *fakeGateways
}

const quietNamespaces = 4

// newStillness has twenty policies of two hundred pods in four namespaces.
func newStillness(t *testing.T) *stillness {
	t.Helper()
	s := &stillness{t: t, now: time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)}
	s.gateways = &fakeGateways{figures: map[string]figures.PolicyFigures{}, plans: map[string]int64{}, pushes: map[string]int{}, changed: make(chan struct{}, 1)}
	var objects []client.Object
	for n := range quietNamespaces {
		ns := fmt.Sprintf("team-%d", n)
		objects = append(objects, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}})
		for p := range policiesEach {
			app := fmt.Sprintf("app-%d", p)
			policy := policyOf(app, "400k", 1)
			policy.Namespace = ns
			policy.Spec.PodSelector = &v1alpha1.PodSelector{MatchLabels: map[string]string{"app": app}}
			objects = append(objects, &policy)
			for _, pod := range podsOf(app) {
				objects = append(objects, governed(ns, pod, app))
			}
		}
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	// A pointer, since the reconciler compares the two.
	store := &struct{ client.Client }{fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&v1alpha1.RateLimitPolicy{}).
		WithInterceptorFuncs(s.counting()).Build()}
	s.Reconciler = New(Options{
		Client: store, Env: store, Plans: s.gateways, Reports: s.gateways, Recorder: events.NewFakeRecorder(1000),
		CoordinatorCA: s.gateways.bundle, Now: func() time.Time { return s.now },
	})
	return s
}

func governed(namespace, name, app string) *corev1.Pod {
	always := corev1.ContainerRestartPolicyAlways
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, Labels: map[string]string{"app": app},
			Annotations: map[string]string{sidecar.AnnotationContract: sidecar.ContractVersion, sidecar.AnnotationOutcome: string(inject.Injected)},
		},
		Spec: corev1.PodSpec{InitContainers: []corev1.Container{{Name: sidecar.ContainerName, RestartPolicy: &always}}},
	}
}

// counting notes each write of whatever kind.
func (s *stillness) counting() interceptor.Funcs {
	note := func(verb string, o client.Object) {
		s.writes = append(s.writes, fmt.Sprintf("%s: %s %s/%s", s.now.Format(time.TimeOnly), verb, o.GetNamespace(), o.GetName()))
	}
	return interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			note("patch "+sub, o)
			return c.SubResource(sub).Patch(ctx, o, p, opts...)
		},
		Apply: func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			s.writes = append(s.writes, s.now.Format(time.TimeOnly)+": apply")
			return c.Apply(ctx, o, opts...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			note("delete", o)
			return c.Delete(ctx, o, opts...)
		},
	}
}

// look has all gateways report nothing new, and statuses compared with it; every minute namespaces are reconciled, too.
func (s *stillness) look() {
	s.t.Helper()
	for n := range quietNamespaces {
		ns := fmt.Sprintf("team-%d", n)
		for p := range policiesEach {
			app := fmt.Sprintf("app-%d", p)
			f := reporting(1, podsOf(app)...)
			f.At = s.now
			for i := range f.Gateways {
				f.Gateways[i].Since, f.Gateways[i].LastReport = s.started, s.now
			}
			s.gateways.report(ns, app, f)
		}
		if err := s.refresh(s.t.Context(), ns); err != nil {
			s.t.Fatal(err)
		}
		if s.now.Sub(s.started)%time.Minute != 0 {
			continue
		}
		if _, err := s.Reconcile(s.t.Context(), request(ns)); err != nil {
			s.t.Fatal(err)
		}
	}
	s.now = s.now.Add(RefreshInterval)
}

// TestE1TenMinutesWithoutAWrite: by a clock of its own, from the second minute on, when everything has been said once.
func TestE1TenMinutesWithoutAWrite(t *testing.T) {
	s := newStillness(t)
	for s.now.Sub(s.started) < 2*time.Minute {
		s.look()
	}
	if statuses := quietNamespaces * policiesEach; len(s.writes) < statuses+2*quietNamespaces || len(s.writes) > 4*statuses {
		t.Errorf("%d writes in the first two minutes: %v", len(s.writes), s.writes)
	}
	s.writes = nil
	for s.now.Sub(s.started) < 12*time.Minute {
		s.look()
	}
	if len(s.writes) != 0 {
		t.Errorf("%d writes in ten minutes without a change, such as %s", len(s.writes), s.writes[0])
	}
	// What is another then is written all the same.
	var p v1alpha1.RateLimitPolicy
	if err := s.Client.Get(t.Context(), client.ObjectKey{Namespace: "team-0", Name: "app-0"}, &p); err != nil || p.Status.Gateways.Governed != podsEach {
		t.Fatalf("%+v, %v", p.Status.Gateways, err)
	}
	s.gateways.report("team-0", "app-0", figures.PolicyFigures{At: s.now, Over: figures.Window})
	if err := s.refresh(t.Context(), "team-0"); err != nil || len(s.writes) != 1 {
		t.Errorf("with a policy whose gateways are silent: %v, %v", s.writes, err)
	}
}

// TestE1StepsOfTheClockWriteNothing: forward and back by an hour, as when a node's clock is set right. The times in statuses lie an
// hour in the past or in the future then, and neither makes anything due, nor anybody silent.
func TestE1StepsOfTheClockWriteNothing(t *testing.T) {
	s := newStillness(t)
	looks := func(d time.Duration) {
		for end := s.now.Add(d); s.now.Before(end); {
			s.look()
		}
	}
	looks(2 * time.Minute)
	for _, step := range []time.Duration{time.Hour, -time.Hour, -time.Hour} {
		// What a process has counted itself goes on as it was; only what was written down is an hour off.
		s.writes, s.now, s.started = nil, s.now.Add(step), s.started.Add(step)
		looks(2 * time.Minute)
		if len(s.writes) != 0 {
			t.Errorf("after a step of %s: %d writes, such as %s", step, len(s.writes), s.writes[0])
		}
	}
	// And with a clock that is behind, what changes is written, once.
	s.writes = nil
	silent := figures.PolicyFigures{At: s.now, Over: figures.Window}
	for range 3 {
		s.gateways.report("team-0", "app-0", silent)
		if err := s.refresh(t.Context(), "team-0"); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.writes) != 1 {
		t.Errorf("with a clock that is behind a change is written %d times: %v", len(s.writes), s.writes)
	}
}
