// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"time"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/policy"
	"github.com/headgate-dev/headgate/internal/policy/decide"
)

// Next is what a gateway would do under a policy that states nothing.
type Next struct {
	Route plan.Route
	// Decision is the one with the least delay, Latest the one with the most.
	Decision, Latest decide.Decision
}

// next asks the gateway's own rules what would become of a call whose first attempt had this response.
func (r Reading) next(f facts.Facts, received time.Time) Next {
	route := defaultRoute(f)
	wait, source, guided := r.Reading.Wait(r.Class)
	in := decide.Input{
		Class:    decide.Class(r.Class),
		Guidance: decide.Guidance{Wait: wait, Source: string(source), Has: guided},
		Attempt:  1, Arrived: received, Now: received,
		Deadline: received.Add(millis(route.Deadline.DefaultMillis)),
		// Of a body that is no stream nothing is held back.
		ContentSent: r.InStream && (r.ContentSeen || !r.Stream),
		// What failed without a refusal may have been processed.
		MaybeProcessed: decide.Class(r.Class) == decide.Transient,
		RetriesLeft:    true, Settings: settings(route),
	}
	n := Next{Route: route}
	in.Rand = func() float64 { return 0 }
	n.Decision = decide.Decide(in)
	in.Rand = func() float64 { return 1 }
	n.Latest = decide.Decide(in)
	return n
}

// defaultRoute is the route of a provider of which a policy states only the name.
func defaultRoute(f facts.Facts) plan.Route {
	p := v1alpha1.RateLimitPolicy{}
	p.Name = "default"
	p.Spec.Providers = []v1alpha1.Provider{{
		Name: "provider", Dialect: v1alpha1.Dialect(f.Name), BaseURL: "https://provider.invalid",
	}}
	compiled, _ := policy.Compile([]v1alpha1.RateLimitPolicy{p}, policy.Inputs{Namespace: "default"})
	if len(compiled.Policies) == 0 {
		return plan.Route{} // only if the API did not know the dialect, which a test excludes
	}
	return compiled.Policies[0].Routes[0]
}

func settings(r plan.Route) decide.Settings {
	return decide.Settings{
		HonourCeiling: millis(r.Throttle.HonourCeilingMillis),
		JitterPercent: int(r.Throttle.JitterPercent),
		MaxAttempts:   int(r.Throttle.MaxAttempts),
		Unguided: decide.Backoff{
			Base: millis(r.Unguided.BaseMillis), Cap: millis(r.Unguided.CapMillis), Equal: r.Unguided.Equal,
		},
		Overload:            decide.Backoff{Base: millis(r.Overload.BaseMillis), Cap: millis(r.Overload.CapMillis)},
		OverloadMaxAttempts: int(r.Overload.MaxAttempts),
	}
}

func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
