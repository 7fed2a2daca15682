// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"slices"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/plan"
)

// maxNote is what the events API takes.
const maxNote = 1024

// From these on, calls that are an SDK's own retries are worth a warning.
const (
	stackedCount = 5
	stackedShare = 0.05
)

// events compares with the last status that was written, so a transition is told once however often the
// status is built in between.
func events(in Inputs, previous v1alpha1.RateLimitPolicyStatus, pods podView, set conditionSet, views []providerView, v verdict) ([]Event, []string) {
	var out []Event
	add := func(reason, format string, args ...any) {
		out = append(out, Event{Reason: reason, Message: truncate(fmt.Sprintf(format, args...), maxNote)})
	}
	about := func(pod, reason, format string, args ...any) {
		add(reason, format, args...)
		out[len(out)-1].Pod = pod
	}
	for _, p := range newlyUngoverned(pods.notInjected, pods, previous) {
		about(p.Name, v1alpha1.EventPodsNotInjected, "%d of %d matching pods have no gateway, such as %s: %s.",
			len(pods.notInjected), pods.counts.Matching, p.Name, p.reason)
	}
	for _, p := range newlyUngoverned(pods.bypassed, pods, previous) {
		about(p.Name, v1alpha1.EventBypassSuspected, "Calls of %s pass the gateway by: %s; remove the variable.", p.Name, afterWord(p.reason))
	}
	if becomes(previous, v1alpha1.ConditionDegraded, set.degraded, v1alpha1.ReasonDisconnected) {
		add(v1alpha1.ReasonDisconnected, "%d injected, 0 reporting for %s; each is on its safe share. %s",
			pods.counts.Injected, wait(DisconnectedAfter), egressRule)
	}
	if becomes(previous, v1alpha1.ConditionThrottled, set.throttled, v1alpha1.ReasonPolicyLimit) {
		add(v1alpha1.ReasonPolicyLimit, "%s", v.policyLimitNote())
	}
	if becomes(previous, v1alpha1.ConditionThrottled, set.throttled, v1alpha1.ReasonQuotaExhausted) {
		add(v1alpha1.ReasonQuotaExhausted, "%s %s", set.throttled.message, v.nextStep())
	}
	raised := raise(in.Raised, views, add)
	return out, raised
}

// becomes reports whether the condition takes the reason now and had another before.
func becomes(previous v1alpha1.RateLimitPolicyStatus, kind string, f finding, reason string) bool {
	old := find(previous.Conditions, kind)
	return f.reason == reason && (old == nil || old.Reason != reason)
}

// newlyUngoverned are the pods of list that status names and whose reason, which names the owner, it did
// not give before.
func newlyUngoverned(list []judged, pods podView, previous v1alpha1.RateLimitPolicyStatus) []judged {
	told := map[string]bool{}
	for _, u := range previous.Gateways.Ungoverned {
		told[u.Reason] = true
	}
	var out []judged
	for _, p := range list {
		reason := truncate(p.reason, maxReason)
		named := slices.ContainsFunc(pods.counts.Ungoverned, func(u v1alpha1.UngovernedPod) bool { return u.Name == p.Name })
		if named && !told[reason] {
			told[reason] = true
			out = append(out, p)
		}
	}
	return out
}

func (v verdict) policyLimitNote() string {
	var refused, offered float64
	median := v1alpha1.Wait("0s")
	var longest int64
	for _, l := range v.provider.lanes {
		refused += float64(l.seen.Refused)
		offered += float64(l.seen.Offered)
		if int64(l.seen.WaitMedian) > longest {
			longest, median = int64(l.seen.WaitMedian), wait(l.seen.WaitMedian)
		}
	}
	provider := "the provider refuses nothing."
	if v.provider.seen.TooManyRequests > 0 {
		provider = fmt.Sprintf("the provider refuses %s of sends.",
			percent(float64(v.provider.seen.TooManyRequests), float64(v.provider.seen.Sends)))
	}
	return join(" ", v.allowed("this policy allows"),
		fmt.Sprintf("Calls wait %s, %s are refused; %s", median, percent(refused, offered), provider), v.nextStep())
}

// raise tells of what no field of status shows. It returns what holds now, to be handed back.
func raise(raised []string, views []providerView, add func(reason, format string, args ...any)) []string {
	var now []string
	note := func(reason, provider, text string) {
		key := reason + " " + provider
		now = append(now, key)
		if !slices.Contains(raised, key) {
			add(reason, "%s", text)
		}
	}
	for _, v := range views {
		if v.seen.TooLarge > 0 {
			note(v1alpha1.EventCallTooLarge, v.name, v.tooLargeNote())
		}
		stacked, calls := float64(v.seen.StackedRetries), v.offeredCalls()
		if stacked >= stackedCount && stacked >= stackedShare*calls {
			note(v1alpha1.EventStackedRetries, v.name, fmt.Sprintf(
				"%d of %d calls to %s are an SDK's retries of calls already answered, %s of the load; set max_retries to 0 in the SDK, the gateway retries.",
				v.seen.StackedRetries, int64(calls), v.name, percent(stacked, calls)))
		}
	}
	return now
}

func (v providerView) offeredCalls() float64 {
	n := 0.0
	for _, l := range v.lanes {
		n += float64(l.seen.Offered)
	}
	return n
}

// tooLargeNote names the token limit that holds least, of those that count input if there are any.
func (v providerView) tooLargeNote() string {
	least := v.smallest(plan.InputTokens, plan.Tokens)
	if least == nil {
		least = v.smallest(plan.OutputTokens)
	}
	note := fmt.Sprintf("%s to %s can never be sent: the largest has %s tokens",
		plural(int(v.seen.TooLarge), "call", "calls"), v.name, amount(float64(v.seen.LargestTooLarge)))
	if least == nil {
		return note + "; make it smaller."
	}
	return fmt.Sprintf("%s, %s never holds more than %s; raise its burst or make the calls smaller.",
		note, least.name, amount(float64(least.declared.Burst)))
}

func (v providerView) smallest(budgets ...string) *limitView {
	var least *limitView
	for i, l := range v.limits {
		if slices.Contains(budgets, l.declared.Budget) && (least == nil || l.declared.Burst < least.declared.Burst) {
			least = &v.limits[i]
		}
	}
	return least
}

// afterWord leaves out the word a reason begins with.
func afterWord(reason string) string {
	for i := range reason {
		if reason[i] == ':' {
			return reason[min(i+2, len(reason)):]
		}
	}
	return reason
}
