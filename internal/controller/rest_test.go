// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/headgate-dev/headgate/api/v1alpha1"
)

// fleet is twenty policies of two hundred pods, in four namespaces.
type fleet []string

const policiesEach, podsEach = 5, 10

func startFleet(t *testing.T) (f fleet) {
	t.Helper()
	for range 4 {
		ns := env.Namespace(t, nil)
		f = append(f, ns)
		var yaml strings.Builder
		for p := range policiesEach {
			app := fmt.Sprintf("app-%d", p)
			for _, pod := range podsOf(app) {
				createPod(t, ns, pod, map[string]string{"app": app}, true)
			}
			fmt.Fprintf(&yaml, policyYAML+"---\n", app, ns, "app: "+app, "400k")
		}
		applyAll(t, yaml.String())
	}
	return f
}

func podsOf(app string) (names []string) {
	for i := range podsEach {
		names = append(names, fmt.Sprintf("%s-%d", app, i))
	}
	return names
}

// report has all gateways say that they run the first generation and carry nothing.
func (f fleet) report() {
	for _, ns := range f {
		for p := range policiesEach {
			app := fmt.Sprintf("app-%d", p)
			gateways.report(ns, app, reporting(1, podsOf(app)...))
		}
	}
}

// each visits the policies as they are stored.
func (f fleet) each(t *testing.T, visit func(p *v1alpha1.RateLimitPolicy)) {
	t.Helper()
	for _, ns := range f {
		var list v1alpha1.RateLimitPolicyList
		if err := env.Client.List(t.Context(), &list, client.InNamespace(ns)); err != nil || len(list.Items) != policiesEach {
			t.Fatalf("%d policies: %v", len(list.Items), err)
		}
		for i := range list.Items {
			visit(&list.Items[i])
		}
	}
}

// reconciles is how often namespaces were reconciled.
func reconciles(t *testing.T) (n float64) {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if f.GetName() == "controller_runtime_reconcile_total" && l.GetName() == "controller" && l.GetValue() == "ratelimitpolicy" {
					n += m.GetCounter().GetValue()
				}
			}
		}
	}
	return n
}

// E1: gateways that report and carry nothing cause neither a write nor a reconcile.
//
// Fault E1: A controller that wrote status at every look woke itself by its own writes.
// Headgate: Without traffic nothing is written and no object changes; reports do not cause reconciles.
func TestE1TwentyPoliciesOfTwoHundredPodsRest(t *testing.T) {
	f := startFleet(t)
	f.report()
	eventually(t, func() (waiting string) {
		f.each(t, func(p *v1alpha1.RateLimitPolicy) {
			if n := p.Status.Gateways; n.Matching != podsEach || n.Governed != podsEach || n.Reporting != podsEach {
				waiting = fmt.Sprintf("%s/%s: %+v", p.Namespace, p.Name, n)
			}
		})
		return waiting
	})
	if reconciles(t) == 0 {
		t.Fatal("no reconcile is counted")
	}
	quiet(t, f.report, func() string {
		var versions strings.Builder
		f.each(t, func(p *v1alpha1.RateLimitPolicy) { fmt.Fprintln(&versions, p.Namespace, p.Name, p.ResourceVersion) })
		for _, ns := range f {
			fmt.Fprintln(&versions, ns, planObject(t, ns).ResourceVersion)
		}
		fmt.Fprintln(&versions, "reconciles", reconciles(t))
		return versions.String()
	})
}
