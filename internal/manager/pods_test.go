// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/headgate-dev/headgate/internal/figures"
	"github.com/headgate-dev/headgate/internal/sidecar"
)

// Gateways are expected of pods that run one, and of no others.
func TestGatewaysAreThoseOfRunningPods(t *testing.T) {
	pod := func(namespace, name string, change func(*corev1.Pod)) client.Object {
		p := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: namespace, Name: name, UID: "uid", Annotations: map[string]string{sidecar.AnnotationContract: sidecar.ContractVersion},
			},
			Spec:   corev1.PodSpec{Containers: []corev1.Container{{Name: "app"}, {Name: sidecar.ContainerName}}},
			Status: corev1.PodStatus{Phase: corev1.PodRunning},
		}
		change(p)
		return p
	}
	now := metav1.Now()
	objects := []client.Object{
		pod("ns", "running", func(*corev1.Pod) {}),
		pod("ns", "native", func(p *corev1.Pod) {
			p.Spec = corev1.PodSpec{InitContainers: p.Spec.Containers, Containers: []corev1.Container{{Name: "app"}}}
		}),
		pod("ns", "without", func(p *corev1.Pod) { p.Spec.Containers = p.Spec.Containers[:1] }),
		pod("ns", "own-container", func(p *corev1.Pod) { p.Annotations = nil }),
		pod("ns", "pending", func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending }),
		pod("ns", "ended", func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }),
		pod("ns", "leaving", func(p *corev1.Pod) { p.DeletionTimestamp, p.Finalizers = &now, []string{"a/b"} }),
		pod("other", "running", func(*corev1.Pod) {}),
	}
	scheme, err := Scheme()
	if err != nil {
		t.Fatal(err)
	}
	pods := cachedPods{fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()}
	want := []figures.Pod{{Namespace: "ns", Name: "native", UID: "uid"}, {Namespace: "ns", Name: "running", UID: "uid"}}
	if diff := cmp.Diff(want, pods.Gateways("ns")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
