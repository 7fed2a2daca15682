// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"regexp"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/test/demo/load"
)

// The way everybody begins: label, apply the smallest policy, start a pod. Its app's own SDKs then call through the
// gateway, and within a minute the policy says so.
func TestSmallestPolicyGovernsAPodAndSaysSo(t *testing.T) {
	t.Parallel()
	n := newTenant(t)
	n.apply(t, smallest)
	app := n.startApp(t, "app")
	if !injected(app) {
		t.Fatalf("the pod has no gateway: %v", app.Annotations)
	}
	began := time.Now()
	mustCall(t, app, load.Call{InputTokens: 1_000})
	mustCall(t, app, load.Call{InputTokens: 1_000, Stream: true})
	n.mustArrive(t, 2)
	// A status that was written between the two calls stands for ten minutes: amounts alone are no reason for another.
	n.eventually(t, time.Minute-time.Since(began), "conditions and figures", all(
		condition(v1alpha1.ConditionAccepted, metav1.ConditionTrue, v1alpha1.ReasonValid),
		condition(v1alpha1.ConditionProgrammed, metav1.ConditionTrue, v1alpha1.ReasonAcknowledged),
		condition(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAllGoverned),
		condition(v1alpha1.ConditionDegraded, metav1.ConditionFalse, v1alpha1.ReasonConnected),
		condition(v1alpha1.ConditionThrottled, metav1.ConditionFalse, v1alpha1.ReasonNotThrottled),
		pods(1, 1, 1, 1), sends(1)))
	t.Logf("figures after %s", time.Since(began).Round(time.Second))
	n.mustPrint(t)
}

// mustPrint checks what people read of a policy that governs one pod.
func (n tenant) mustPrint(t *testing.T) {
	t.Helper()
	row := regexp.MustCompile(`(?m)^NAME +MODE +READY +PODS +THROTTLED +LIMITED-BY +WAIT +REFUSED +429S +AGE
default +Enforce +True +1/1 +False +- +\S+ +0\.0% +0\.0% +\d+\w*$`)
	if out := mustKubectl(t, "", "get", "ratelimitpolicies", "-n", n.name); !row.MatchString(out) {
		t.Errorf("kubectl get prints\n%s\nwant a match of\n%s", out, row)
	}
	out := mustKubectl(t, "", "describe", "ratelimitpolicy", "default", "-n", n.name)
	for _, want := range []string{"anthropic/input-tokens", "Remaining:", "Too Many Requests Rate:  0.0%", "Figures At:"} {
		if !strings.Contains(out, want) {
			t.Errorf("kubectl describe does not show %q:\n%s", want, out)
		}
	}
}

// A pod whose app sets its own base URL has a gateway and passes it by; the policy names it and says why.
func TestUngovernedPodIsNamed(t *testing.T) {
	t.Parallel()
	n := newTenant(t)
	n.apply(t, smallest)
	n.startApp(t, "good")
	spec := appSpec()
	spec.Containers[0].Env = append(spec.Containers[0].Env, envVar("ANTHROPIC_BASE_URL", "https://provider.llm-provider.svc"))
	n.startPod(t, "own-url", spec)
	app := n.serving(t, "own-url")
	if !injected(app) {
		t.Error("the pod has no gateway")
	}
	n.eventually(t, time.Minute, "the pod is named", all(
		condition(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonPartlyGoverned),
		pods(2, 2, 1, 2), named("own-url", "BaseURLSetByApp: container app sets ANTHROPIC_BASE_URL itself"),
	))
}

// Bad input is refused by kubectl apply, with the path of the field and what to do.
func TestBadPolicyIsRefusedWithItsPath(t *testing.T) {
	t.Parallel()
	n := newTenant(t)
	const limit = "{name: input-tokens, budget: InputTokens, amount: 400k, per: Minute}"
	tests := map[string]struct {
		was, is string
		want    []string
	}{
		"not a number":      {"400k", "lots", []string{"spec.providers[0].limits[0].amount", "must be a whole number from 0 to 1T"}},
		"no window":         {", per: Minute", "", []string{"spec.providers[0].limits[0]", "per is required, except with budget InFlight"}},
		"unknown field":     {"amount: 400k", "amount: 400k, bursts: 1", []string{"unknown field", "spec.providers[0].limits[0].bursts"}},
		"a URL with a key":  {"https://provider", "https://me:key@provider", []string{"spec.providers[0].baseURL"}},
		"smaller than used": {limit, limit + "\n    lanes:\n    - {name: bulk, largestCall: 900k}", []string{"spec.providers[0].lanes: ", "raise its burst or lower largestCall"}},
		"no URL":            {"name: anthropic\n    baseURL: https://provider.llm-provider.svc", "name: mine", []string{"spec.providers[0].baseURL"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			document := strings.Replace(smallest, tc.was, tc.is, 1)
			out, err := kubectl(t, document, "apply", "-n", n.name, "-f", "-")
			if err == nil {
				t.Errorf("kubectl apply accepts\n%s", document)
			}
			for _, want := range tc.want {
				if !strings.Contains(out, want) {
					t.Errorf("kubectl apply prints\n%s\nwithout %q", out, want)
				}
			}
		})
	}
}
