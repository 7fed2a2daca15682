// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/v1alpha1"
)

// finding is a condition without its times.
type finding struct {
	status  metav1.ConditionStatus
	reason  string
	message string
}

// conditionSet is all of them; fields are in the order of status.
type conditionSet struct {
	accepted, programmed, ready, degraded, throttled finding
}

// decide finds all conditions.
func decide(in Inputs, previous v1alpha1.RateLimitPolicyStatus, pods podView, views []providerView, v verdict, now time.Time) conditionSet {
	set := conditionSet{
		accepted:  accepted(in),
		ready:     ready(in, pods),
		throttled: finding{metav1.ConditionStatus(v.status()), v.reason, v.message(in, views)},
	}
	set.programmed = programmed(in, pods)
	set.degraded = degraded(in, previous, pods, views, now)
	return set
}

func accepted(in Inputs) finding {
	f := finding{metav1.ConditionTrue, in.Accepted.Reason, in.Accepted.Message}
	if !in.Accepted.inPlan() {
		f.status = metav1.ConditionFalse
	}
	if f.reason == v1alpha1.ReasonValid && in.Compiled != nil {
		f.message = join(" ", contents(in), f.message)
	}
	return f
}

// inForce says what holds while the spec does not.
func (in Inputs) inForce() string {
	if in.Compiled == nil {
		return "The policy is not in force."
	}
	switch in.Accepted.Reason {
	case v1alpha1.ReasonAccountNotFound:
		return "What the policy itself states is in force; of an account that was there before, gateways keep to their safe share."
	case v1alpha1.ReasonAccountNotAllowed:
		return "Calls of the account's providers are refused; the rest of the policy is in force."
	}
	return fmt.Sprintf("Generation %d stays in force.", in.Compiled.Generation)
}

// contents counts what the spec declares.
func contents(in Inputs) string {
	limits, lanes := 0, 0
	for _, r := range in.Compiled.Routes {
		limits += len(declaredLimits(r))
		for _, l := range r.Lanes {
			if l.Name != "default" {
				lanes++
			}
		}
	}
	declared := []string{count(len(in.Compiled.Routes), "provider"), count(limits, "limit")}
	if lanes > 0 {
		declared = append(declared, count(lanes, "lane"))
	}
	return strings.Join(declared, ", ") + "."
}

// programmed compares the generation of this policy that gateways run with the spec's.
func programmed(in Inputs, pods podView) finding {
	n := pods.counts
	switch {
	case !in.Accepted.inPlan():
		return finding{metav1.ConditionFalse, in.Accepted.Reason, in.inForce()}
	case in.NotStored != "":
		return finding{metav1.ConditionFalse, v1alpha1.ReasonPlanNotStored, truncate(
			"Connected gateways get this policy; pods that start now may lack its plan, or the variables that route their calls: "+in.NotStored, maxMessage)}
	case n.Matching == 0:
		return finding{metav1.ConditionTrue, v1alpha1.ReasonNoMatchingPods, "No pod matches; the first that does gets this policy at once."}
	case n.Injected == 0:
		return finding{metav1.ConditionFalse, v1alpha1.ReasonNoReports, fmt.Sprintf("None of %s has a gateway.", count(int(n.Matching), "matching pod"))}
	case n.Reporting == 0:
		return finding{metav1.ConditionUnknown, v1alpha1.ReasonNoReports, fmt.Sprintf("None of %s reports.", count(int(n.Injected), "gateway"))}
	}
	if r := in.rejected(); r != nil {
		return finding{
			metav1.ConditionFalse, v1alpha1.ReasonPlanRejected,
			truncate(fmt.Sprintf("The gateway of %s keeps an older plan: %s.", r.Pod, strings.TrimRight(r.Message, ". ")), maxMessage),
		}
	}
	acknowledged := in.acknowledged()
	if acknowledged < int(n.Reporting) {
		return finding{
			metav1.ConditionFalse, v1alpha1.ReasonPending,
			fmt.Sprintf("Generation %d runs in %d of %d reporting gateways.", in.Generation, acknowledged, n.Reporting),
		}
	}
	return finding{
		metav1.ConditionTrue, v1alpha1.ReasonAcknowledged,
		fmt.Sprintf("Generation %d runs in %s.", in.Generation, allOf(acknowledged, "reporting gateway")),
	}
}

func allOf(n int, noun string) string {
	if n == 1 {
		return "the only " + noun
	}
	return "all " + count(n, noun)
}

// rejected is the first rejection of the present plan or a newer one; older ones are history.
func (in Inputs) rejected() *Rejection {
	for i, r := range in.Rejections {
		if r.Revision >= in.PlanRevision {
			return &in.Rejections[i]
		}
	}
	return nil
}

// acknowledged counts matching gateways that run this generation or a newer one.
func (in Inputs) acknowledged() int {
	matching := make(map[string]bool, len(in.Pods))
	for _, p := range in.Pods {
		matching[p.Name] = true
	}
	n := 0
	for _, g := range in.Figures.Gateways {
		if matching[g.Pod] && g.Generation >= in.Generation {
			n++
		}
	}
	return n
}

// ready says whether pods are governed. Throttling never makes it False: pacing is what it is for.
func ready(in Inputs, pods podView) finding {
	n := pods.counts
	outdated := ""
	if len(pods.outdated) > 0 {
		outdated = fmt.Sprintf("%s injected by another release, such as %s: %s.",
			plural(len(pods.outdated), "pod was", "pods were"), pods.outdated[0].Name, pods.outdated[0].restart())
	}
	unknown := ""
	if n.Unknown > 0 {
		unknown = fmt.Sprintf("Of %d it is not known whether their calls pass through the gateway.", n.Unknown)
	}
	switch {
	case !in.Accepted.inPlan():
		return finding{metav1.ConditionFalse, in.Accepted.Reason, in.inForce()}
	case n.Matching == 0:
		return finding{metav1.ConditionTrue, v1alpha1.ReasonNoMatchingPods, "No pod matches."}
	case n.Governed == 0 && n.Unknown > 0:
		return finding{metav1.ConditionUnknown, v1alpha1.ReasonRoutingUnknown, join(" ",
			fmt.Sprintf("Surely governs none of %s; see gateways.ungoverned.", count(int(n.Matching), "matching pod")), unknown)}
	case n.Governed == 0:
		return finding{
			metav1.ConditionFalse, v1alpha1.ReasonNoPodGoverned,
			fmt.Sprintf("Governs none of %s; see gateways.ungoverned.", count(int(n.Matching), "matching pod")),
		}
	case n.Governed < n.Matching:
		return finding{metav1.ConditionTrue, v1alpha1.ReasonPartlyGoverned, join(" ",
			fmt.Sprintf("Governs %d of %d matching pods; see gateways.ungoverned.", n.Governed, n.Matching), unknown, outdated)}
	}
	return finding{metav1.ConditionTrue, v1alpha1.ReasonAllGoverned, join(" ",
		fmt.Sprintf("Governs %s.", allOf(int(n.Matching), "matching pod")), outdated)}
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// set turns findings into conditions, keeping the time of the last transition where status stayed.
func (s conditionSet) conditions(in Inputs, previous []metav1.Condition, now time.Time) []metav1.Condition {
	return inOrder(in.Generation, previous, now, []typed{
		{v1alpha1.ConditionAccepted, s.accepted},
		{v1alpha1.ConditionProgrammed, s.programmed},
		{v1alpha1.ConditionReady, s.ready},
		{v1alpha1.ConditionDegraded, s.degraded},
		{v1alpha1.ConditionThrottled, s.throttled},
	})
}

// typed is a condition without its times.
type typed struct {
	kind string
	finding
}

func inOrder(generation int64, previous []metav1.Condition, now time.Time, set []typed) []metav1.Condition {
	out := make([]metav1.Condition, 0, len(set))
	for _, c := range set {
		since := metav1.NewTime(now.Truncate(time.Second))
		if old := find(previous, c.kind); old != nil && old.Status == c.status {
			since = old.LastTransitionTime
		}
		out = append(out, metav1.Condition{
			Type: c.kind, Status: c.status, Reason: c.reason, Message: truncate(c.message, maxMessage),
			ObservedGeneration: generation, LastTransitionTime: since,
		})
	}
	return out
}

func find(conditions []metav1.Condition, kind string) *metav1.Condition {
	for i := range conditions {
		if conditions[i].Type == kind {
			return &conditions[i]
		}
	}
	return nil
}
