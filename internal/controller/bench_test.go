// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/headgate-dev/headgate/api/v1alpha1"
)

// testPolicies are n policies, every third of which selects nothing and so all pods.
func testPolicies(n int) []v1alpha1.RateLimitPolicy {
	out := make([]v1alpha1.RateLimitPolicy, n)
	for i := range out {
		out[i] = v1alpha1.RateLimitPolicy{
			ObjectMeta: metav1.ObjectMeta{
				Name: fmt.Sprintf("policy-%04d", i), Namespace: "bench", UID: types.UID(fmt.Sprint(i)), Generation: 1,
				CreationTimestamp: metav1.NewTime(time.Unix(int64(1_700_000_000+i%7), 0)),
			},
			Spec: v1alpha1.RateLimitPolicySpec{Providers: []v1alpha1.Provider{{
				Name: "anthropic",
				Limits: []v1alpha1.Limit{
					{Name: "requests", Budget: v1alpha1.BudgetRequests, Amount: resource.MustParse("4k"), Per: v1alpha1.WindowMinute},
					{Name: "input-tokens", Budget: v1alpha1.BudgetInputTokens, Amount: resource.MustParse("400k"), Per: v1alpha1.WindowMinute},
				},
			}}},
		}
		if i%3 != 0 {
			out[i].Spec.PodSelector = &v1alpha1.PodSelector{MatchLabels: map[string]string{"app": fmt.Sprint(i)}}
		}
	}
	return out
}

// BenchmarkReconcile is one reconcile of a namespace with that many policies and twice as many pods, in
// which nothing changed. The client is a fake in memory, which costs more than a cache.
func BenchmarkReconcile(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("policies=%d", n), func(b *testing.B) {
			r := benchReconciler(b, n)
			req := request("bench")
			for range 2 { // the first writes everything
				if _, err := r.Reconcile(b.Context(), req); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Reconcile(b.Context(), req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkDecide is the same without reading and writing.
func BenchmarkDecide(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("policies=%d", n), func(b *testing.B) {
			r := benchReconciler(b, n)
			seen := &observed{namespace: "bench", optedIn: true, policies: testPolicies(n), pods: benchPods(2 * n)}
			state := r.namespaces.lock("bench")
			defer state.unlock()
			b.ReportAllocs()
			for b.Loop() {
				d, err := r.decide(seen, state)
				if err != nil {
					b.Fatal(err)
				}
				seen.plan = &d.plan
			}
		})
	}
}

func benchPods(n int) []corev1.Pod {
	pods := make([]corev1.Pod, n)
	for i := range pods {
		pods[i] = corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("pod-%05d", i), Namespace: "bench", Labels: map[string]string{"app": fmt.Sprint(i / 2)},
		}}
	}
	return pods
}

func benchReconciler(b *testing.B, n int) *Reconciler {
	b.Helper()
	objects := []client.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: "bench", Labels: map[string]string{v1alpha1.LabelInject: v1alpha1.InjectEnabled},
	}}}
	policies, pods := testPolicies(n), benchPods(2*n)
	for i := range policies {
		objects = append(objects, &policies[i])
	}
	for i := range pods {
		objects = append(objects, &pods[i])
	}
	c := fake.NewClientBuilder().WithScheme(env.Scheme).WithStatusSubresource(&v1alpha1.RateLimitPolicy{}).WithObjects(objects...).Build()
	quiet := &fakeGateways{plans: map[string]int64{}}
	return New(Options{
		Client: c, Env: c, Plans: quiet, Reports: quiet, Recorder: events.NewFakeRecorder(10_000),
		CoordinatorCA: func() []byte { return nil }, Now: time.Now,
	})
}
