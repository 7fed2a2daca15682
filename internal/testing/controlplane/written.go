// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/headgate-dev/headgate/internal/sidecar"
	"github.com/headgate-dev/headgate/internal/testing/canary"
)

// AppKey is the key that pods of tests have, and the one in each namespace's Secret: marked, so that it is found wherever
// it gets to.
var AppKey = canary.Key("of-an-app")

// giveKeys makes the Secret that tenants make.
func (e *Env) giveKeys(ctx context.Context, namespace string) error {
	return e.Client.Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: sidecar.CredentialsSecret, Namespace: namespace},
		StringData: map[string]string{
			"anthropic": AppKey, "anthropic" + sidecar.HostsSuffix: "api.anthropic.com", sidecar.DeferredPasswordKey: AppKey,
		},
	})
}

// Written is all that is in the API server but for what tests gave it: every object of every kind, without tenants' keys,
// without the environment of their containers, and without the private keys of the manager's own Secret.
func (e *Env) Written(ctx context.Context) (string, error) {
	kinds, err := e.kinds()
	if err != nil {
		return "", err
	}
	c, err := dynamic.NewForConfig(e.Config)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, kind := range kinds {
		list, err := c.Resource(kind).List(ctx, metav1.ListOptions{})
		if client.IgnoreNotFound(err) != nil {
			return "", fmt.Errorf("list %s: %w", kind, err)
		}
		for i := range list.Items {
			withoutGiven(kind.Resource, &list.Items[i])
			text, err := json.Marshal(list.Items[i].Object)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&out, "%s\n", text)
		}
	}
	return out.String(), nil
}

// kinds are all that can be listed.
func (e *Env) kinds() (out []schema.GroupVersionResource, err error) {
	d, err := discovery.NewDiscoveryClientForConfig(e.Config)
	if err != nil {
		return nil, err
	}
	groups, err := d.ServerPreferredResources()
	if err != nil {
		return nil, err
	}
	for _, group := range groups {
		gv, err := schema.ParseGroupVersion(group.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, r := range group.APIResources {
			if slices.Contains(r.Verbs, "list") {
				out = append(out, gv.WithResource(r.Name))
			}
		}
	}
	return out, nil
}

// withoutGiven takes out of an object what tests put there.
func withoutGiven(resource string, o *unstructured.Unstructured) {
	annotations := o.GetAnnotations()
	delete(annotations, corev1.LastAppliedConfigAnnotation)
	o.SetAnnotations(annotations)
	switch {
	case resource == "secrets" && o.GetName() == sidecar.CredentialsSecret:
		delete(o.Object, "data")
	case resource == "secrets":
		data, _, _ := unstructured.NestedMap(o.Object, "data")
		for name := range data {
			if strings.HasSuffix(name, ".key") {
				delete(data, name)
			}
		}
		_ = unstructured.SetNestedMap(o.Object, data, "data")
	case resource == "pods":
		for _, field := range []string{"containers", "initContainers"} {
			withoutEnv(o, field)
		}
	}
}

// withoutEnv leaves the gateway's own, which must hold no key.
func withoutEnv(pod *unstructured.Unstructured, field string) {
	containers, _, _ := unstructured.NestedSlice(pod.Object, "spec", field)
	for _, c := range containers {
		if c, ok := c.(map[string]any); ok && c["name"] != sidecar.ContainerName {
			delete(c, "env")
		}
	}
	if containers != nil {
		_ = unstructured.SetNestedSlice(pod.Object, containers, "spec", field)
	}
}
