// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/testing/controlplane"
)

// TestE7ARealServerDropsTheFieldAndIsFoundOut, by somebody with no right but that of any identity; and is found to be
// right again soon after its CRD is upgraded.
func TestE7ARealServerDropsTheFieldAndIsFoundOut(t *testing.T) {
	env := controlplane.Start(t, controlplane.Options{WithoutCRDs: true})
	anybody := env.User(t, "system:serviceaccount:a:b", "system:serviceaccounts", "system:authenticated")
	d, err := discovery.NewDiscoveryClientForConfig(anybody)
	if err != nil {
		t.Fatal(err)
	}
	served := New(d.OpenAPIV3(), time.Now)
	if _, err := served.Missing(); err == nil {
		t.Error("without CRDs nothing is missing")
	}
	upgraded := map[string]*unstructured.Unstructured{}
	for _, plural := range []string{"ratelimitpolicies", "provideraccounts"} {
		upgraded[plural] = manifest(t, env.Root, plural)
		old := upgraded[plural].DeepCopy()
		if plural == "ratelimitpolicies" {
			dropBurst(t, old)
		}
		if err := env.Client.Create(t.Context(), old); err != nil {
			t.Fatal(err)
		}
		upgraded[plural].SetResourceVersion(old.GetResourceVersion())
	}
	within(t, func() string {
		if missing, err := served.Missing(); err != nil || !slices.Equal(missing, []string{"RateLimitPolicy spec.providers[].limits[].burst"}) {
			return fmt.Sprintf("with the old CRD %v is missing, %v", missing, err)
		}
		return ""
	})
	within(t, func() string { return stored(t, env, "before", false) })
	within(t, func() string { // the server writes the CRD's status meanwhile
		var present unstructured.Unstructured
		present.SetGroupVersionKind(upgraded["ratelimitpolicies"].GroupVersionKind())
		if err := env.Client.Get(t.Context(), client.ObjectKeyFromObject(upgraded["ratelimitpolicies"]), &present); err != nil {
			return err.Error()
		}
		upgraded["ratelimitpolicies"].SetResourceVersion(present.GetResourceVersion())
		if err := env.Client.Update(t.Context(), upgraded["ratelimitpolicies"]); err != nil {
			return err.Error()
		}
		return ""
	})
	within(t, func() string {
		if missing, err := served.Missing(); err != nil || len(missing) > 0 {
			return fmt.Sprintf("with the new CRD %v is missing, %v", missing, err)
		}
		return ""
	})
	within(t, func() string { return stored(t, env, "after", true) })
}

func manifest(t *testing.T, root, plural string) *unstructured.Unstructured {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, "config", "crd", "bases", "headgate.dev_"+plural+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	out := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(content, &out.Object); err != nil {
		t.Fatal(err)
	}
	return out
}

// dropBurst makes the CRD one of before there were bursts.
func dropBurst(t *testing.T, crd *unstructured.Unstructured) {
	t.Helper()
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	path := []string{"schema", "openAPIV3Schema", "properties", "spec", "properties", "providers", "items", "properties", "limits", "items"}
	limit, found, err := unstructured.NestedMap(versions[0].(map[string]any), path...)
	if err != nil || !found {
		t.Fatalf("no limits in the CRD: %v", err)
	}
	delete(limit["properties"].(map[string]any), "burst")
	delete(limit, "x-kubernetes-validations")
	if err := unstructured.SetNestedField(versions[0].(map[string]any), limit, path...); err != nil {
		t.Fatal(err)
	}
	if err := unstructured.SetNestedSlice(crd.Object, versions, "spec", "versions"); err != nil {
		t.Fatal(err)
	}
}

// stored makes a policy with a burst and says what is wrong with what became of it.
func stored(t *testing.T, env *controlplane.Env, name string, kept bool) string {
	t.Helper()
	policy := &unstructured.Unstructured{}
	text := "apiVersion: headgate.dev/v1alpha1\nkind: RateLimitPolicy\nmetadata: {name: " + name + ", namespace: default}\n" +
		"spec: {providers: [{name: anthropic, limits: [{name: a, budget: InputTokens, amount: 400k, per: Minute, burst: 100k}]}]}"
	if err := yaml.Unmarshal([]byte(text), &policy.Object); err != nil {
		t.Fatal(err)
	}
	if err := env.Client.Create(t.Context(), policy, client.FieldValidation("Ignore")); err != nil && !apierrors.IsAlreadyExists(err) {
		return err.Error()
	}
	providers, _, _ := unstructured.NestedSlice(policy.Object, "spec", "providers")
	limits, _, _ := unstructured.NestedSlice(providers[0].(map[string]any), "limits")
	if _, has := limits[0].(map[string]any)["burst"]; has != kept {
		_ = env.Client.Delete(t.Context(), policy)
		return fmt.Sprintf("the server keeps %v", limits[0])
	}
	return ""
}

func within(t *testing.T, check func() string) {
	t.Helper()
	said := ""
	for end := time.Now().Add(4 * time.Minute); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if said = check(); said == "" {
			return
		}
	}
	t.Fatal(said)
}
