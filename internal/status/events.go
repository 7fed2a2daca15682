// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/plan"
)

// maxNote is what the events API takes.
const maxNote = 1024

// Events compare with the last status that was written, so a transition is told once however often the status
// is built in between.

// podEvents tells of pods that the policy does not reach.
func podEvents(pods podView, previous v1alpha1.RateLimitPolicyStatus) []Event {
	var out []Event
	about := func(pod, reason, format string, args ...any) {
		out = append(out, Event{Pod: pod, Reason: reason, Message: truncate(fmt.Sprintf(format, args...), maxNote)})
	}
	for _, p := range newlyUngoverned(pods.notInjected, pods, previous) {
		about(p.Name, v1alpha1.EventPodsNotInjected, "%s: %s, %s.",
			pods.withoutGateway(), p.Name, p.reason)
	}
	for _, p := range newlyUngoverned(pods.notStarted, pods, previous) {
		about(p.Name, v1alpha1.EventGatewayNotStarted, "The gateway of %s does not start: %s.", p.Name, afterWord(p.reason))
	}
	for _, p := range newlyUngoverned(pods.bypassed, pods, previous) {
		about(p.Name, v1alpha1.EventBypassSuspected, "Calls of %s pass the gateway by, so nothing limits them: %s. Remove the variable from the pod's template.", p.Name, afterWord(p.reason))
	}
	return out
}

// reportedEvents tells of what gateways report.
func reportedEvents(in Inputs, previous v1alpha1.RateLimitPolicyStatus, pods podView, set conditionSet, views []providerView, v verdict) ([]Event, []string) {
	var out []Event
	add := func(reason, format string, args ...any) {
		out = append(out, Event{Reason: reason, Message: truncate(fmt.Sprintf(format, args...), maxNote)})
	}
	if becomes(previous, v1alpha1.ConditionDegraded, set.degraded, v1alpha1.ReasonDisconnected) {
		add(v1alpha1.ReasonDisconnected, "None of %s has reported for %s; until it does, %s. %s",
			count(int(pods.counts.Injected), "gateway"), wait(DisconnectedAfter), outageWords(views), egressRule)
	}
	if becomes(previous, v1alpha1.ConditionDegraded, set.degraded, v1alpha1.ReasonBudgetStoreLost) {
		add(v1alpha1.ReasonBudgetStoreLost, "%s No call fails for this alone.", set.degraded.message)
	}
	if becomes(previous, v1alpha1.ConditionThrottled, set.throttled, v1alpha1.ReasonPolicyLimit) {
		add(v1alpha1.ReasonPolicyLimit, "%s", v.policyLimitNote(limitView.holding))
	}
	if becomes(previous, v1alpha1.ConditionThrottled, set.throttled, v1alpha1.ReasonAccountShare) {
		add(v1alpha1.ReasonAccountShare, "%s", v.policyLimitNote(limitView.holdingShare))
	}
	if becomes(previous, v1alpha1.ConditionThrottled, set.throttled, v1alpha1.ReasonOutsideTraffic) {
		add(v1alpha1.ReasonOutsideTraffic, "%s %s", set.throttled.message, v.nextStep())
	}
	if becomes(previous, v1alpha1.ConditionThrottled, set.throttled, v1alpha1.ReasonQuotaExhausted) {
		add(v1alpha1.ReasonQuotaExhausted, "%s %s", set.throttled.message, v.nextStep())
	}
	raised := raise(in.Raised, views, add)
	return out, raised
}

// withoutGateway counts the pods that are not injected.
func (v podView) withoutGateway() string {
	n, of := len(v.notInjected), v.counts.Matching
	if n == 1 {
		return fmt.Sprintf("1 of %s has no gateway, so nothing limits its calls", count(int(of), "matching pod"))
	}
	return fmt.Sprintf("%d of %d matching pods have no gateway, so nothing limits their calls. One of them", n, of)
}

// becomes reports whether the condition takes the reason now and had another before.
func becomes(previous v1alpha1.RateLimitPolicyStatus, kind string, f finding, reason string) bool {
	old := find(previous.Conditions, kind)
	return f.reason == reason && (old == nil || old.Reason != reason)
}

// newlyUngoverned are those pods of list that status names, one of each owner and reason, but for owners of which the last
// status named a pod for that reason: two owners may have the same.
func newlyUngoverned(list []judged, pods podView, previous v1alpha1.RateLimitPolicyStatus) []judged {
	told := map[[2]string]bool{}
	var out []judged
	for _, p := range list {
		reason := truncate(p.reason, maxReason)
		named := slices.ContainsFunc(pods.counts.Ungoverned, func(u v1alpha1.UngovernedPod) bool { return u.Name == p.Name })
		if key := [2]string{p.Owner, reason}; named && !told[key] && !pods.toldBefore(p.Owner, reason, previous) {
			told[key] = true
			out = append(out, p)
		}
	}
	return out
}

// toldBefore says whether the last status named a pod of the owner for the reason. Of one that is gone the owner is known
// by the name that it gave the pod.
func (v podView) toldBefore(owner, reason string, previous v1alpha1.RateLimitPolicyStatus) bool {
	_, name, _ := strings.Cut(owner, "/")
	return slices.ContainsFunc(previous.Gateways.Ungoverned, func(u v1alpha1.UngovernedPod) bool {
		if u.Reason != reason {
			return false
		}
		if its, there := v.owners[u.Name]; there {
			return its == owner
		}
		return owner == "" || strings.HasPrefix(u.Name, name+"-")
	})
}

// policyLimitNote says how a limit holds calls back, as holding tells it.
func (v verdict) policyLimitNote(holding func(limitView) string) string {
	provider := "the provider refuses nothing"
	if v.provider.seen.TooManyRequests > 0 {
		provider = fmt.Sprintf("the provider refuses %s of sends",
			percent(float64(v.provider.seen.TooManyRequests), float64(v.provider.seen.Sends)))
	}
	return join(" ", holding(*v.limit), capital(join("; ", v.provider.heldWords(), provider))+".", v.nextStep())
}

// heldWords say how calls are held back, of the lane where it is worst: only what people notice.
func (v providerView) heldWords() string {
	var refused, offered float64
	var median, oldest time.Duration
	for _, l := range v.lanes {
		refused += float64(l.seen.Refused)
		offered += float64(l.seen.Offered)
		median, oldest = max(median, l.seen.WaitMedian), max(oldest, l.seen.QueuedOldest)
	}
	waits := ""
	switch {
	case median >= noticeableMedian:
		waits = fmt.Sprintf("calls wait %s", wait(median))
	case oldest >= noticeableWait:
		waits = fmt.Sprintf("the oldest call in a queue has waited %s", wait(oldest))
	}
	refusals := ""
	if refused > 0 {
		refusals = fmt.Sprintf("%s are refused", percent(refused, offered))
		if waits == "" || median < noticeableMedian {
			refusals = fmt.Sprintf("%s of calls are refused", percent(refused, offered))
		}
	}
	return join(", ", waits, refusals)
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
		if v.stacks() {
			note(v1alpha1.EventStackedRetries, v.name, v.stackedNote())
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
		return note + ". Make them smaller."
	}
	return fmt.Sprintf("%s, and %s never holds more than %s. Raise its burst, or make the calls smaller.",
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
