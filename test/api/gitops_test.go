// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/headgate-dev/headgate/api/v1alpha1"
)

// versions are the resource versions of everything of ours in a namespace, and of all accounts.
func versions(t *testing.T, namespace string) string {
	t.Helper()
	var policies v1alpha1.RateLimitPolicyList
	var accounts v1alpha1.ProviderAccountList
	if err := env.Client.List(t.Context(), &policies, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	if err := env.Client.List(t.Context(), &accounts); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, p := range policies.Items {
		fmt.Fprintln(&all, p.Name, p.Generation, p.ResourceVersion)
	}
	for _, a := range accounts.Items {
		fmt.Fprintln(&all, a.Name, a.Generation, a.ResourceVersion)
	}
	return all.String()
}

// report writes a status to everything in the namespace, as the manager does.
func report(t *testing.T, namespace string) {
	t.Helper()
	var policies v1alpha1.RateLimitPolicyList
	if err := env.Client.List(t.Context(), &policies, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	for i := range policies.Items {
		p := &policies.Items[i]
		before := client.MergeFrom(p.DeepCopy())
		now := metav1.Now()
		p.Status.ObservedGeneration, p.Status.Summary.FiguresAt = p.Generation, &now
		if err := env.Client.Status().Patch(t.Context(), p, before, client.FieldOwner("headgate-controller")); err != nil {
			t.Fatal(err)
		}
	}
}

// TestApplyingAgainChangesNothing: each sample, applied by hand and then by a GitOps tool that takes it over, with a status written
// between: nothing is different to the tool, and applying again writes nothing.
func TestApplyingAgainChangesNothing(t *testing.T) {
	samples, err := filepath.Glob(env.Root + "/config/samples/*.yaml")
	if err != nil || len(samples) < 20 {
		t.Fatalf("%d samples: %v", len(samples), err)
	}
	leaveNoAccounts(t)
	first, then := []string(nil), []string{"--server-side", "--force-conflicts", "--field-manager=argocd-controller"}
	namespace := env.Namespace(t, nil)
	var files []string
	for _, s := range samples {
		files = append(files, "-f", s)
	}
	apply := func(tool []string) {
		t.Helper()
		env.RunKubectl(t, append(append([]string{"apply", "-n", namespace}, tool...), files...)...)
	}
	apply(first)
	report(t, namespace)
	generations := func() (all []int64) {
		var policies v1alpha1.RateLimitPolicyList
		if err := env.Client.List(t.Context(), &policies, client.InNamespace(namespace)); err != nil {
			t.Fatal(err)
		}
		for _, p := range policies.Items {
			all = append(all, p.Generation)
		}
		return all
	}
	before := fmt.Sprint(generations())
	apply(then) // which may make itself an owner
	if got := fmt.Sprint(generations()); got != before {
		t.Errorf("generations %s became %s", before, got)
	}
	was := versions(t, namespace)
	apply(then)
	if got := versions(t, namespace); got != was {
		t.Errorf("applying again wrote (-before, +after):\n-%s+%s", was, got)
	}
	if out, err := env.TryKubectl(t, append(append([]string{"diff", "-n", namespace}, then...), files...)...); err != nil {
		t.Errorf("there is a difference: %v\n%s", err, out)
	}
}
