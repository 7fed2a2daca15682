// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
)

// compileRoute resolves all defaults of one provider. It relies on the rules of the schema only, so that
// the rules of meaning can look at its result.
func compileRoute(p *v1alpha1.Provider, mode v1alpha1.Mode) plan.Route {
	return plan.Route{
		Name: p.Name, Dialect: dialectOf(p).Name, BaseURL: baseURLOf(p),
		CredentialKey: p.CredentialKey, Observe: cmp.Or(p.Mode, mode) == v1alpha1.ModeObserve,
		Outage:   unlessDeclined(p.Outage, v1alpha1.OutageSafe),
		Limits:   compileLimits(p.Limits),
		Deadline: compileDeadline(p), Deferred: compileDeferred(p),
		Throttle: compileThrottle(p.Throttle), Unguided: compileUnguided(p.Unguided),
		Overload: compileOverload(p.Overload), Lanes: compileLanes(p.Lanes),
	}
}

// dialectOf is the dialect stated, else the one the provider's name means (openai, azure, vllm), else Generic.
func dialectOf(p *v1alpha1.Provider) dialect.Facts {
	if facts, ok := dialect.ByName(string(p.Dialect)); ok {
		return facts
	}
	if facts, ok := dialect.Find(p.Name); ok {
		return facts
	}
	generic, _ := dialect.ByName(dialect.Generic)
	return generic
}

func baseURLOf(p *v1alpha1.Provider) string {
	return strings.TrimRight(cmp.Or(p.BaseURL, dialectOf(p).DefaultBaseURL), "/")
}

func deadlineOf(p *v1alpha1.Provider) time.Duration {
	if p.Deadline == nil {
		return defaultDeadline
	}
	return duration(p.Deadline.Default, defaultDeadline)
}

func compileThrottle(t *v1alpha1.Throttle) plan.Throttle {
	stated := orDefault(t, v1alpha1.Throttle{})
	return plan.Throttle{
		HonourCeilingMillis: duration(stated.HonourCeiling, defaultHonourCeiling).Milliseconds(),
		JitterPercent:       orDefault(stated.JitterPercent, defaultJitterPercent),
		MaxAttempts:         orDefault(stated.MaxAttempts, defaultMaxAttempts),
		OnCeilingExceeded:   unlessDeclined(stated.OnCeilingExceeded, v1alpha1.CeilingDecline),
		FailoverTo:          stated.FailoverTo,
	}
}

func compileUnguided(u *v1alpha1.Unguided) plan.Backoff {
	stated := orDefault(u, v1alpha1.Unguided{})
	return plan.Backoff{
		BaseMillis: duration(stated.Base, defaultUnguidedBase).Milliseconds(),
		CapMillis:  duration(stated.Cap, defaultUnguidedCap).Milliseconds(),
		Equal:      stated.Jitter == v1alpha1.JitterEqual,
	}
}

func compileOverload(o *v1alpha1.Overload) plan.Overload {
	stated := orDefault(o, v1alpha1.Overload{})
	return plan.Overload{
		BaseMillis:  duration(stated.Base, defaultOverloadBase).Milliseconds(),
		CapMillis:   duration(stated.Cap, defaultOverloadCap).Milliseconds(),
		MaxAttempts: orDefault(stated.MaxAttempts, defaultOverloadMaxAttempts),
	}
}

func compileLimits(limits []v1alpha1.Limit) []plan.Limit {
	var out []plan.Limit
	for i := range limits {
		l := &limits[i]
		amount := whole(&l.Amount)
		burst := amount
		// An amount of 0 lets nothing pass, and a burst beside it would let something pass once.
		if l.Burst != nil && amount > 0 {
			burst = whole(l.Burst)
		}
		out = append(out, plan.Limit{
			Name: l.Name, Budget: string(l.Budget), Amount: amount, Burst: burst,
			WindowSeconds: windowSeconds(l.Per), Models: slices.Clone(l.Models),
		})
	}
	return out
}

func windowSeconds(w v1alpha1.Window) int64 {
	switch w {
	case v1alpha1.WindowSecond:
		return 1
	case v1alpha1.WindowMinute:
		return 60
	case v1alpha1.WindowHour:
		return 60 * 60
	case v1alpha1.WindowDay:
		return 24 * 60 * 60
	}
	return 0
}

// whole is the value of a quantity that the schema's rules accept; absent is 0.
func whole(q *resource.Quantity) int64 {
	if q == nil {
		return 0
	}
	value, _ := q.AsInt64()
	return value
}

// Terms are the selector's requirements in a fixed order.
func Terms(s *v1alpha1.PodSelector) []plan.Term {
	if s == nil {
		return nil
	}
	var out []plan.Term
	for key, value := range s.MatchLabels {
		out = append(out, plan.Term{Key: key, Operator: plan.In, Values: []string{value}})
	}
	for _, e := range s.MatchExpressions {
		out = append(out, plan.Term{
			Key: e.Key, Operator: plan.Operator(e.Operator), Values: slices.Sorted(slices.Values(e.Values)),
		})
	}
	slices.SortFunc(out, func(a, b plan.Term) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Operator, b.Operator), slices.Compare(a.Values, b.Values))
	})
	return out
}
