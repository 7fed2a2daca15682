// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/figures"
)

// Build makes the whole status anew from in; from previous it takes the times of transitions, and, while
// this process is still learning, what only reports can say.
func Build(in Inputs, previous v1alpha1.RateLimitPolicyStatus, now time.Time) Result {
	views := lookup(in)
	pods := judgePods(in, now)
	v := judge(in, views, previous.Summary.BindingLimit)
	set := decide(in, previous, pods, views, v, now)
	kept := in.Learning && keepReported(in, &set, &pods, previous)

	s := v1alpha1.RateLimitPolicyStatus{
		ObservedGeneration: in.Generation,
		Gateways:           pods.counts,
		Conditions:         set.conditions(in, previous.Conditions, now),
	}
	if kept {
		s.Limits, s.Lanes, s.Providers = previous.Limits, previous.Lanes, previous.Providers
		s.Summary = previous.Summary
	} else {
		reported := len(in.Figures.Gateways) > 0
		s.Limits, s.Lanes, s.Providers = limitStatuses(views, reported), laneStatuses(views), providerStatuses(views, reported)
		s.Summary = summarize(in, views, v, now)
	}
	s.Summary.Mode, s.Summary.Providers = in.Mode, truncate(strings.Join(in.Providers, ","), maxReason)
	s.Summary.Pods = fmt.Sprintf("%d/%d", pods.counts.Governed, pods.counts.Matching)
	if !kept {
		s.Summary.NextStep = nextStep(in, pods, set, views, v)
	}
	// Pods need no report to be told of, and a status that names them is not written twice.
	result := Result{Status: s, Events: podEvents(pods, previous), Raised: in.Raised}
	if !kept {
		told, raised := reportedEvents(in, previous, pods, set, views, v)
		result.Events, result.Raised = append(result.Events, told...), raised
	}
	prune(&result.Status)
	return result
}

// keepReported keeps what reports say while fewer gateways have been heard than the status knows of, so
// that a change of leader does not read as an outage. It reports whether it did.
func keepReported(in Inputs, set *conditionSet, pods *podView, previous v1alpha1.RateLimitPolicyStatus) bool {
	if previous.ObservedGeneration != in.Generation || pods.counts.Reporting >= min(previous.Gateways.Reporting, pods.counts.Injected) {
		return false
	}
	for _, k := range []struct {
		kind string
		into *finding
	}{
		{v1alpha1.ConditionProgrammed, &set.programmed},
		{v1alpha1.ConditionDegraded, &set.degraded},
		{v1alpha1.ConditionThrottled, &set.throttled},
	} {
		c := find(previous.Conditions, k.kind)
		if c == nil {
			return false
		}
		*k.into = finding{c.Status, c.Reason, c.Message}
	}
	if n, c := previous.Gateways, find(previous.Conditions, v1alpha1.ConditionReady); c != nil &&
		n.Matching == pods.counts.Matching && n.Injected == pods.counts.Injected {
		// Which gateways had calls decides in part which pods are governed.
		set.ready, pods.counts = finding{c.Status, c.Reason, c.Message}, n
	}
	pods.counts.Reporting, pods.counts.Silent = previous.Gateways.Reporting, previous.Gateways.Silent
	return true
}

// nothing is a column of which nothing is known, or that nothing fills.
const nothing = "-"

func summarize(in Inputs, views []providerView, v verdict, now time.Time) v1alpha1.Summary {
	at := metav1.NewTime(now.Truncate(time.Second))
	over := in.Figures.Over
	if over <= 0 {
		over = figures.Window
	}
	s := v1alpha1.Summary{BindingLimit: v.boundBy(), FiguresAt: &at, FiguresOver: span(over)}
	if v.reason == v1alpha1.ReasonUnknown || !in.Accepted.inPlan() {
		s.RefusedByPolicy, s.TooManyRequests, s.Wait = nothing, nothing, nothing
		return s
	}
	var offered, refused, sends, tooMany float64
	var longest time.Duration
	for _, p := range views {
		sends += float64(p.seen.Sends)
		tooMany += float64(p.seen.TooManyRequests)
		for _, l := range p.lanes {
			offered += float64(l.seen.Offered)
			refused += float64(l.seen.Refused)
			longest = max(longest, l.seen.WaitMedian)
		}
	}
	s.RefusedByPolicy, s.TooManyRequests = percent(refused, offered), percent(tooMany, sends)
	s.Wait = wait(longest)
	return s
}

// boundBy names what calls wait for: a limit of ours, or the provider.
func (v verdict) boundBy() string {
	switch v.reason {
	case v1alpha1.ReasonPolicyLimit, v1alpha1.ReasonAccountShare, v1alpha1.ReasonObserveOnly:
		if v.limit != nil {
			return v.limit.name
		}
		return v.provider.name
	case v1alpha1.ReasonProviderLimit, v1alpha1.ReasonOutsideTraffic, v1alpha1.ReasonQuotaExhausted:
		return v.provider.name
	}
	return nothing
}
