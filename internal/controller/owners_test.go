// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/sidecar"
)

// owner has pods that were missed; read is how kubectl names what to restart.
type owner struct {
	kind, name, read string
	pods             int
}

// owners have fifty.
var owners = []owner{
	{"ReplicaSet", "web-6d9f4c7b5", "deployment/web", 18},
	{"ReplicaSet", "search-7c8d5b9f4", "deployment/search", 12},
	{"StatefulSet", "ingest", "statefulset/ingest", 7},
	{"DaemonSet", "agent", "daemonset/agent", 5},
	{"Job", "nightly-29384756", "cronjob/nightly", 2},
	{"Job", "nightly-29384757", "cronjob/nightly", 2},
	{"Job", "import", "job/import", 2},
	{"", "bare", "", 2},
}

// advice is what status says is to be done.
func (o owner) advice() string {
	switch o.kind {
	case "":
		return "delete the pod and create it again"
	case "Job":
		return "the next run of " + o.read + " is injected"
	}
	return "kubectl rollout restart " + o.read
}

// createOwned makes a pod as the owner's controller does.
func createOwned(t *testing.T, namespace, kind, name string, i int) {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("%s-%d", name, i)},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "app"}}},
	}
	if kind != "" {
		_, hash, _ := strings.Cut(name, "-")
		pod.Labels = map[string]string{"pod-template-hash": hash}
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: kind, Name: name, UID: "1", Controller: ptr.To(true)}}
	}
	if err := env.Client.Create(t.Context(), pod); err != nil {
		t.Error(err)
	}
}

// TestD17FiftyPodsThatWereMissed: of Deployments, a StatefulSet, a DaemonSet, a CronJob's runs, a Job and nobody, made
// while the policy is. All are counted, one of each owner is named with what to do, and each owner is told of once.
func TestD17FiftyPodsThatWereMissed(t *testing.T) {
	// The webhook is seen to work, so that nobody takes it for unreachable in the middle of the test.
	elsewhere := env.Namespace(t, nil)
	createPod(t, elsewhere, "web", nil, true)
	applyPolicy(t, elsewhere, "default", "", "400k")
	eventually(t, func() string {
		return cmp.Diff(int32(1), getPolicy(t, elsewhere, "default").Status.Gateways.Injected)
	})
	ns := env.Namespace(t, map[string]string{v1alpha1.LabelInject: v1alpha1.InjectEnabled})
	var all sync.WaitGroup
	total := int32(0)
	for _, o := range owners {
		total += int32(o.pods)
		all.Go(func() {
			for i := range o.pods {
				createOwned(t, ns, o.kind, o.name, i)
			}
		})
	}
	applyPolicy(t, ns, "default", "", "400k")
	all.Wait()
	eventually(t, func() string {
		got := getPolicy(t, ns, "default").Status.Gateways
		return cmp.Diff([]int32{total, 0, 0, 10}, []int32{got.Matching, got.Injected, got.Governed, int32(len(got.Ungoverned))})
	})
	for _, o := range owners {
		named := slices.ContainsFunc(getPolicy(t, ns, "default").Status.Gateways.Ungoverned, func(u v1alpha1.UngovernedPod) bool {
			return strings.HasSuffix(u.Reason, o.advice())
		})
		if !named {
			t.Errorf("%s: no pod is named with %q", o.name, o.advice())
		}
	}
	eventually(t, func() string {
		told, want := map[string]int{}, map[string]int{}
		for _, o := range owners {
			want[o.advice()] = 1
			told[o.advice()] = 0
		}
		for line := range strings.Lines(toldEvents(t, ns)) {
			for advice := range want {
				if strings.HasPrefix(line, v1alpha1.EventPodsNotInjected+": ") && strings.HasSuffix(strings.TrimSpace(line), advice+".") {
					told[advice]++
				}
			}
		}
		return cmp.Diff(want, told)
	})
}

// TestD17AContainerOfTheSameNameIsNoGateway: the webhook leaves such a pod alone and says so; it is governed by nobody.
func TestD17AContainerOfTheSameNameIsNoGateway(t *testing.T) {
	ns := env.Namespace(t, map[string]string{v1alpha1.LabelInject: v1alpha1.InjectEnabled})
	const why = "SkippedNameTaken: a container has the reserved name " + sidecar.ContainerName
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "impostor", Namespace: ns, Annotations: map[string]string{sidecar.AnnotationOutcome: why}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: sidecar.ContainerName, Image: "app"}}},
	}
	if err := env.Client.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	applyPolicy(t, ns, "default", "", "400k")
	eventually(t, func() string {
		got := getPolicy(t, ns, "default").Status.Gateways
		want := []v1alpha1.UngovernedPod{{Name: "impostor", Reason: why}}
		return cmp.Diff(want, got.Ungoverned) + cmp.Diff([]int32{1, 0, 0}, []int32{got.Matching, got.Injected, got.Governed})
	})
}
