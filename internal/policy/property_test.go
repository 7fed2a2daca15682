// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/plan"
	_ "github.com/headgate-dev/headgate/internal/testing/seed"
)

func drawPolicies(t *rapid.T) []v1alpha1.RateLimitPolicy {
	count := rapid.IntRange(0, 6).Draw(t, "policies")
	out := make([]v1alpha1.RateLimitPolicy, 0, count)
	for i := range count {
		selector := rapid.MapOfN(rapid.SampledFrom([]string{"a", "b"}), rapid.SampledFrom([]string{"x", "y"}), 0, 2).Draw(t, "selector")
		age := rapid.IntRange(0, 2).Draw(t, "age")
		out = append(out, policyOf(fmt.Sprintf("p%d", i), age, selector, drawProviders(t)...))
	}
	return out
}

func drawProviders(t *rapid.T) []v1alpha1.Provider {
	names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"openai", "anthropic", "x", "y"}), 1, 3, rapid.ID).Draw(t, "providers")
	out := make([]v1alpha1.Provider, 0, len(names))
	for _, name := range names {
		p := providerAt(name, "https://llm.example.com")
		p.Dialect = rapid.SampledFrom([]v1alpha1.Dialect{"", v1alpha1.DialectOpenAI, v1alpha1.DialectGeneric}).Draw(t, "dialect")
		p.Lanes = drawLanes(t)
		drawInstead(t, &p)
		out = append(out, p)
	}
	return out
}

// drawInstead draws what happens to calls that cannot be made now, right and wrong.
func drawInstead(t *rapid.T, p *v1alpha1.Provider) {
	p.CredentialKey = rapid.SampledFrom([]string{"", "k"}).Draw(t, "key")
	p.Deadline = &v1alpha1.Deadline{OnExceeded: rapid.SampledFrom([]v1alpha1.Exceeded{"", v1alpha1.Decline, v1alpha1.Defer}).Draw(t, "deadline")}
	p.Throttle = &v1alpha1.Throttle{
		OnCeilingExceeded: rapid.SampledFrom([]v1alpha1.CeilingExceeded{
			"", v1alpha1.CeilingDecline, v1alpha1.CeilingDefer, v1alpha1.CeilingFailover,
		}).Draw(t, "ceiling"),
	}
	if p.Throttle.OnCeilingExceeded == v1alpha1.CeilingFailover {
		p.Throttle.FailoverTo = rapid.SampledFrom([]string{"openai", "anthropic", "x", "y", "z"}).Draw(t, "to")
	}
	if rapid.Bool().Draw(t, "bounds what is deferred") {
		p.Deferred = &v1alpha1.Deferred{MaxAge: "2h", CallbackHosts: []string{"*.example.com"}}
	}
}

func drawLanes(t *rapid.T) []v1alpha1.Lane {
	names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "default"}), 0, 4, rapid.ID).Draw(t, "lanes")
	out := make([]v1alpha1.Lane, 0, len(names))
	for _, name := range names {
		l := v1alpha1.Lane{Name: name}
		if rapid.Bool().Draw(t, "states a share") {
			// Four lanes at most, so that the schema accepts them together.
			share := rapid.Int32Range(0, wholePercent/4).Draw(t, "share")
			l.ReservedPercent = &share
		}
		if rapid.Bool().Draw(t, "matches") {
			l.Match = &v1alpha1.LaneMatch{
				MinInputTokens: resource.NewQuantity(rapid.Int64Range(0, 3).Draw(t, "min"), resource.DecimalSI),
				Models:         rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a*", "ab", "*"}), 0, 2, rapid.ID).Draw(t, "models"),
				Paths:          rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"/v1/*", "/v1/x"}), 0, 2, rapid.ID).Draw(t, "paths"),
			}
		}
		if rapid.Bool().Draw(t, "has an order") {
			priority, weight := rapid.Int32Range(-2, 2).Draw(t, "priority"), rapid.Int32Range(1, 3).Draw(t, "weight")
			l.Priority, l.Weight, l.Hold = &priority, &weight, rapid.SampledFrom([]v1alpha1.Duration{"", "0s", "1h"}).Draw(t, "hold")
			l.CredentialKey = rapid.SampledFrom([]string{"", "b"}).Draw(t, "lane's key")
		}
		out = append(out, l)
	}
	return out
}

// The plan is one that gateways accept, does not depend on the order in which policies are listed, and holds
// just the policies without errors.
func TestCompileProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policies := drawPolicies(t)
		in := Inputs{Namespace: "team", Now: testNow}
		result, outcomes := Compile(policies, in)
		if err := result.Validate(); err != nil {
			t.Fatalf("a gateway refuses the plan: %v", err)
		}
		if needed := result.NeededVersion(); result.Version != needed {
			t.Fatalf("the plan states version %d, and version %d has all of it", result.Version, needed)
		}
		for i, o := range outcomes {
			if Warnings(&policies[i]); len(o.Errors) == 0 {
				Guarantees(&policies[i])
			}
			if o.Name != policies[i].Name {
				t.Fatalf("outcome %d is of %s, want %s", i, o.Name, policies[i].Name)
			}
			if got := indexOf(result, o.Name) >= 0; got != o.InPlan() {
				t.Fatalf("%s: in the plan %t, outcome says %t: %v", o.Name, got, o.InPlan(), o.Errors)
			}
		}
		slices.Reverse(policies)
		if reversed, _ := Compile(policies, in); !plan.SameContent(result, reversed) {
			t.Fatal("the plan depends on the order of the list")
		}
	})
}

func indexOf(p plan.Plan, name string) int {
	return slices.IndexFunc(p.Policies, func(one plan.Policy) bool { return one.Name == name })
}

// What the outcome says of overriding is what Select does for every pod.
func TestOverriddenPoliciesAreNeverSelected(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		result, outcomes := Compile(drawPolicies(t), Inputs{Namespace: "team", Now: testNow})
		labels := rapid.MapOfN(rapid.SampledFrom([]string{"a", "b"}), rapid.SampledFrom([]string{"x", "y"}), 0, 2).Draw(t, "labels")
		for _, o := range outcomes {
			for _, lost := range o.Overrides {
				winner, _, _ := result.Select(labels, lost.Route)
				if winner != nil && winner.Name == o.Name {
					t.Fatalf("%s is overridden on %s by %s and governs %v", o.Name, lost.Route, lost.By, labels)
				}
			}
			if o.OverriddenBy != "" && len(o.Overrides) != len(result.Policies[indexOf(result, o.Name)].Routes) {
				t.Fatalf("%s is overridden by %s, and not on all routes", o.Name, o.OverriddenBy)
			}
		}
	})
}

// The lanes' shares never promise more than there is, and a call of any size finds its lane.
func TestSharesNeverExceedTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		declared := drawLanes(t)
		stated := int32(0)
		for _, l := range declared {
			stated += orDefault(l.ReservedPercent, 0)
		}
		lanes := compileLanes(declared)
		sum := int32(0)
		for i, lane := range lanes {
			sum += lane.SharePermille
			if isLast := i == len(lanes)-1; isLast != (lane.Name == plan.DefaultLane) {
				t.Fatalf("lane %d of %d is %s", i, len(lanes), lane.Name)
			}
		}
		if sum > wholePermille || sum < stated*10 {
			t.Fatalf("the shares add up to %d, stated are %d%%", sum, stated)
		}
	})
}
