// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/api/v1alpha1"
)

// promptText is in every prompt of the app.
const promptText = "customer asks when the parcel"

// mustKeepSecrets searches all that the tenant's containers and the managers logged, and the tenant's objects but its
// Secret, for its key and for prompts.
func (n tenant) mustKeepSecrets(ctx context.Context, t *testing.T) {
	t.Helper()
	said := n.everything(ctx)
	for where, text := range said {
		for _, secret := range []string{n.key, promptText} {
			if i := strings.Index(text, secret); i >= 0 {
				t.Errorf("%s shows %q: …%s…", where, secret, text[max(0, i-120):min(len(text), i+120)])
			}
		}
	}
}

// everything is what containers logged and what kubectl shows, by where it was found.
func (n tenant) everything(ctx context.Context) map[string]string {
	out := map[string]string{}
	for _, namespace := range []string{n.name, systemNamespace} {
		var list corev1.PodList
		if err := api.List(ctx, &list, client.InNamespace(namespace)); err != nil {
			continue
		}
		for i := range list.Items {
			containerLogs(ctx, &list.Items[i], out)
		}
	}
	for _, list := range []client.ObjectList{&corev1.PodList{}, &corev1.EventList{}, &corev1.ConfigMapList{}, &v1alpha1.RateLimitPolicyList{}} {
		if err := api.List(ctx, list, client.InNamespace(n.name)); err == nil {
			_ = meta.EachListItem(list, withoutFieldOwners)
			text, _ := yaml.Marshal(list) // objects just decoded
			out[fmt.Sprintf("%T of %s", list, n.name)] = string(text)
		}
	}
	return out
}

// withoutFieldOwners leaves out what nobody reads.
func withoutFieldOwners(o runtime.Object) error {
	if m, err := meta.Accessor(o); err == nil {
		m.SetManagedFields(nil)
	}
	return nil
}

func containerLogs(ctx context.Context, pod *corev1.Pod, out map[string]string) {
	var names []string
	for _, c := range pod.Spec.InitContainers {
		names = append(names, c.Name)
	}
	for _, c := range pod.Spec.Containers {
		names = append(names, c.Name)
	}
	for _, name := range names {
		for _, previous := range []bool{false, true} {
			o := &corev1.PodLogOptions{Container: name, Previous: previous}
			text, err := logs.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, o).DoRaw(ctx)
			if err == nil && len(text) > 0 {
				out[fmt.Sprintf("log of %s/%s/%s previous=%t", pod.Namespace, pod.Name, name, previous)] = string(text)
			}
		}
	}
}

// show logs a tenant's objects and its containers' last words.
func (n tenant) show(ctx context.Context, t *testing.T) {
	t.Helper()
	for where, text := range n.everything(ctx) {
		if !strings.Contains(where, systemNamespace) {
			t.Logf("%s:\n%s", where, text[max(0, len(text)-8_000):])
		}
	}
}
