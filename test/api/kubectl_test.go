// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"regexp"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/plan"
)

func routes(t *testing.T, p plan.Plan) string {
	t.Helper()
	out, err := plan.Encode(plan.Plan{Policies: p.Policies})
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// withStatus applies the smallest sample and gives it the status of a policy that throttles.
func withStatus(t *testing.T) string {
	t.Helper()
	namespace := env.Namespace(t, nil)
	env.RunKubectl(t, "apply", "-n", namespace, "-f", env.Root+"/config/samples/01-smallest.yaml")
	env.RunKubectl(t, "apply", "-f", env.Root+"/config/samples/19-account.yaml")
	var p v1alpha1.RateLimitPolicy
	if err := env.Client.Get(t.Context(), types.NamespacedName{Namespace: namespace, Name: "default"}, &p); err != nil {
		t.Fatal(err)
	}
	now := metav1.Now()
	p.Status = v1alpha1.RateLimitPolicyStatus{
		Conditions: []metav1.Condition{
			{Type: v1alpha1.ConditionReady, Status: "True", Reason: v1alpha1.ReasonPartlyGoverned, LastTransitionTime: now},
			{
				Type: v1alpha1.ConditionThrottled, Status: "True", Reason: v1alpha1.ReasonPolicyLimit, LastTransitionTime: now,
				Message: "427k/min offered.",
			},
		},
		Limits: []v1alpha1.LimitStatus{{
			Name: "anthropic/input-tokens", Offered: "427k", Per: v1alpha1.WindowMinute, Remaining: "38k",
			State: v1alpha1.LimitBinding, Total: "400k", Used: "400k", UsedBy: []string{"ingest-0 40%"},
		}},
		Summary: v1alpha1.Summary{
			BindingLimit: "anthropic/input-tokens", FiguresAt: &metav1.Time{Time: time.Now()}, Mode: v1alpha1.ModeEnforce,
			NextStep: "Raise it.", Pods: "10/12", Providers: "anthropic", RefusedByPolicy: "9.9%", TooManyRequests: "0.0%", Wait: "27s",
		},
	}
	if err := env.Client.Status().Update(t.Context(), &p); err != nil {
		t.Fatalf("write status: %v", err)
	}
	return namespace
}

func TestKubectlGetShowsTheVerdict(t *testing.T) {
	namespace := withStatus(t)
	tests := map[string]struct {
		args []string
		want string
	}{
		"columns": {
			nil,
			`^NAME +MODE +READY +PODS +THROTTLED +LIMITED-BY +WAIT +REFUSED +429S +AGE
default +Enforce +True +10/12 +True +anthropic/input-tokens +27s +9\.9% +0\.0% +\d+s
$`,
		},
		"wide columns": {
			[]string{"-o", "wide"},
			`^NAME .* AGE +PROVIDERS +WHY
default .* \d+s +anthropic +427k/min offered\.
$`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for _, resource := range []string{"ratelimitpolicies", "hgp", "headgate"} {
				out := env.RunKubectl(t, append([]string{"get", resource, "-n", namespace}, tc.args...)...)
				if resource == "headgate" { // the category has accounts too, which are listed first and apart
					_, out, _ = strings.Cut(out, "\n\n")
					out = strings.ReplaceAll(out, "ratelimitpolicy.headgate.dev/", "")
				}
				if !regexp.MustCompile(tc.want).MatchString(out) {
					t.Errorf("kubectl get %s prints\n%s\nwant a match of\n%s", resource, out, tc.want)
				}
			}
		})
	}
}

// What a person reads last is what stands right above the events.
func TestKubectlDescribeEndsWithTheSummary(t *testing.T) {
	namespace := withStatus(t)
	out := env.RunKubectl(t, "describe", "hgp", "-n", namespace, "default")
	want := regexp.MustCompile(`(?s)Limits:\n    Name: +anthropic/input-tokens\n.*Remaining: +38k\n.*Summary:\n.*Next Step: +Raise it\.\n.*Wait: +27s\nEvents:`)
	if !want.MatchString(out) {
		t.Errorf("kubectl describe prints\n%s", out)
	}
}

// Every field that people write is explained, and says what its absence means.
func TestKubectlExplainsEveryField(t *testing.T) {
	out := env.RunKubectl(t, "explain", "ratelimitpolicies.spec", "--recursive")
	for _, name := range []string{
		"mode", "podSelector", "matchLabels", "matchExpressions", "maxGateways", "providers", "baseURL", "credentialKey",
		"deadline", "throttle", "honourCeiling", "unguided", "overload", "limits", "amount", "per", "burst", "models", "lanes",
		"minInputTokens", "largestCall", "reservedPercent", "maxDepth", "maxWait",
	} {
		if !regexp.MustCompile(`(?m)^ +` + name + `\t`).MatchString(out) {
			t.Errorf("kubectl explain does not list %s", name)
		}
	}
	tests := map[string]string{
		"spec.maxGateways":                          "Absent means twice the pods seen, at least 4.",
		"spec.providers.limits.amount":              "0 means that nothing passes.",
		"spec.providers.limits.burst":               "Absent means amount.",
		"spec.providers.deadline.default":           "Absent means 60s.",
		"spec.providers.throttle.honourCeiling":     "Absent means 30s.",
		"spec.providers.unguided.base":              "Absent means 500ms.",
		"spec.providers.overload.maxAttempts":       "Absent means 4.",
		"spec.providers.lanes.queue.maxDepth":       "Absent means 256.",
		"spec.providers.lanes.reservedPercent":      "Lanes that state none divide the rest equally.",
		"status.limits.remainingHeldForLanes":       "lanes have claimed",
		"spec.podSelector.matchExpressions.key":     "the label's key",
		"spec.providers.lanes.match":                "Absent matches every call.",
		"spec.providers.throttle.jitterPercent":     "Absent means 25.",
		"spec.providers.throttle.maxAttempts":       "Absent means 3.",
		"spec.providers.lanes.queue.maxWait":        "Absent means 50s.",
		"spec.providers.credentialKey":              "headgate-credentials",
		"spec.providers.dialect":                    "with any other name, Generic.",
		"spec.providers.baseURL":                    "https://RESOURCE.openai.azure.com",
		"status.providers.message":                  "the provider's own code and words",
		"spec.providers.unguided.cap":               "Absent means 30s.",
		"spec.providers.overload.base":              "Absent means 1s.",
		"spec.providers.throttle.onCeilingExceeded": "Absent means Decline.",
	}
	for path, want := range tests {
		said := strings.Join(strings.Fields(env.RunKubectl(t, "explain", "ratelimitpolicies."+path)), " ")
		if !strings.Contains(said, want) {
			t.Errorf("kubectl explain %s says %q, want %q", path, said, want)
		}
	}
}

// A stored object keeps just what its author wrote: no default gets into it, and no amount is rewritten.
func TestTheAPIServerAddsNothing(t *testing.T) {
	namespace := env.Namespace(t, nil)
	env.RunKubectl(t, "apply", "-n", namespace, "-f", env.Root+"/config/samples/01-smallest.yaml")
	got := env.RunKubectl(t, "get", "hgp", "default", "-n", namespace, "-o", "jsonpath={.spec}")
	want := `{"providers":[{"limits":[{"amount":"400k","budget":"InputTokens","name":"input-tokens","per":"Minute"}],"name":"anthropic"}]}`
	if got != want {
		t.Errorf("spec is\n%s\nwant\n%s", got, want)
	}
}

// Zero stops everything, so a typed client must be able to write it.
func TestTypedClientsKeepAnAmountOfZero(t *testing.T) {
	stored := applySample(t, env.Root+"/config/samples/11-stop.yaml").Policies[0]
	stored.Labels = map[string]string{"touched": "true"}
	if err := env.Client.Update(t.Context(), &stored); err != nil {
		t.Fatalf("an update by a typed client is refused: %v", err)
	}
	if amount := stored.Spec.Providers[0].Limits[0].Amount; !amount.IsZero() || amount.Format == "" {
		t.Errorf("amount is %v, want 0", amount)
	}
}
