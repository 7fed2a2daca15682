// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// deployment is a Deployment of the app as a document.
func deployment(name string, replicas int) string {
	spec, _ := yaml.Marshal(appSpec()) // our own value
	indented := "      " + strings.ReplaceAll(strings.TrimSpace(string(spec)), "\n", "\n      ")
	return fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s}
spec:
  replicas: %[2]d
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec:
%[3]s
`, name, replicas, indented)
}

// podsOf waits until a Deployment has so many pods that are not ending, and returns their names.
func (n tenant) podsOf(t *testing.T, name string, want int) []string {
	t.Helper()
	var names []string
	within(t, 60*time.Second, fmt.Sprintf("%d pods of %s", want, name), func(ctx context.Context) error {
		var list corev1.PodList
		if err := api.List(ctx, &list, client.InNamespace(n.name), client.MatchingLabels{"app": name}); err != nil {
			return err
		}
		names = nil
		for i := range list.Items {
			if list.Items[i].DeletionTimestamp == nil {
				names = append(names, list.Items[i].Name)
			}
		}
		if len(names) != want {
			return fmt.Errorf("pods %v", names)
		}
		return nil
	})
	return names
}

func (n tenant) podOf(t *testing.T, name string) string {
	t.Helper()
	return n.podsOf(t, name, 1)[0]
}

func (n tenant) readPlan(ctx context.Context) (*corev1.ConfigMap, error) {
	var c corev1.ConfigMap
	err := api.Get(ctx, types.NamespacedName{Namespace: n.name, Name: planConfigMap}, &c)
	if err == nil && c.DeletionTimestamp != nil {
		err = errors.New("being deleted")
	}
	return &c, err
}

// plan waits for the tenant's plan.
func (n tenant) plan(t *testing.T) *corev1.ConfigMap {
	t.Helper()
	var c *corev1.ConfigMap
	within(t, 30*time.Second, "the plan", func(ctx context.Context) (err error) {
		c, err = n.readPlan(ctx)
		return err
	})
	return c
}
