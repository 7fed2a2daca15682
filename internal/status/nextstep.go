// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/plan"
)

// retryingDoesNotHelp ends every next step that people answer with a retry loop.
const retryingDoesNotHelp = "Retrying in the app does not help."

// nextStep is what helps most: a policy that means nothing, then pods that nothing governs, then what
// throttles, then gateways that are not up to date or not heard of, then the pods left out.
func nextStep(in Inputs, pods podView, conditions conditionSet, v verdict) string {
	ungoverned := ""
	if u := pods.counts.Ungoverned; len(u) > 0 {
		ungoverned = u[0].Name + ": " + u[0].Reason
	}
	switch {
	case !in.Accepted.inPlan():
		return truncate("Correct the spec: "+in.Accepted.Message, maxNextStep)
	case conditions.ready.reason == v1alpha1.ReasonNoPodGoverned:
		return truncate(ungoverned, maxNextStep)
	case v.status() == "True" || v.reason == v1alpha1.ReasonObserveOnly:
		return truncate(v.nextStep(), maxNextStep)
	case conditions.programmed.reason == v1alpha1.ReasonPlanRejected:
		return "Upgrade the gateways that keep the older plan: restart their pods."
	case conditions.degraded.reason == v1alpha1.ReasonDisconnected:
		return egressRule
	case conditions.degraded.reason == v1alpha1.ReasonProviderOverloaded:
		return "Nothing: calls are retried on the overload schedule; the provider's status page says more."
	}
	return truncate(ungoverned, maxNextStep)
}

const egressRule = "Allow egress from the pods to Service headgate-coordinator in namespace headgate-system, port 9443."

// nextStep of a reason is fixed but for its figures.
func (v verdict) nextStep() string {
	switch v.reason {
	case v1alpha1.ReasonPolicyLimit:
		return v.raiseOrCut()
	case v1alpha1.ReasonProviderLimit:
		return v.lowerOrAsk()
	case v1alpha1.ReasonQuotaExhausted:
		again := ""
		if at := v.provider.seen.QuotaResetAt; !at.IsZero() {
			again = fmt.Sprintf("It is tried again at %s.", at.UTC().Format("15:04 MST"))
		}
		return join(" ", "Settle the account with "+v.provider.name+"; raising this policy does not help.", again, retryingDoesNotHelp)
	case v1alpha1.ReasonObserveOnly:
		return "Set mode: Enforce, and the gateways pace these calls instead of letting the provider refuse them."
	}
	return ""
}

func (v verdict) raiseOrCut() string {
	l := v.limit
	if l.declared.Budget == plan.InFlight {
		return join(" ", fmt.Sprintf("Raise %s above %s, or %s.", l.name, l.total(), l.cut()), retryingDoesNotHelp)
	}
	needed := raisedAmount(max(l.offered, float64(l.declared.Amount)+1))
	if l.seen.ProviderKnown && l.seen.ProviderLimit > 0 && l.seen.ProviderLimit <= float64(l.declared.Amount) {
		return join(" ", fmt.Sprintf("%s is all that %s allows (%s): ask it for more, or %s.",
			l.name, l.provider, amount(l.seen.ProviderLimit), l.cut()), retryingDoesNotHelp)
	}
	left := ""
	if l.seen.ProviderKnown {
		left = fmt.Sprintf(" (%s left at the provider)", amount(l.seen.ProviderRemaining))
	}
	return join(" ", fmt.Sprintf("Raise %s to %s or more%s, or %s.", l.name, needed, left, l.cut()), retryingDoesNotHelp)
}

// leader of the limit's users is worth naming from this fraction on.
const worthNaming = 0.1

// cut names who uses most.
func (v limitView) cut() string {
	if len(v.seen.UsedBy) == 0 || v.seen.UsedBy[0].Fraction < worthNaming {
		return "cut load"
	}
	return fmt.Sprintf("cut load: %s uses %s", v.seen.UsedBy[0].Pod, wholePercent(v.seen.UsedBy[0].Fraction, 1))
}

func (v verdict) lowerOrAsk() string {
	p := v.provider.name
	switch {
	case v.limit == nil:
		return fmt.Sprintf("Declare limits for %s, so that its calls are paced below what it allows, or ask it for more.", p)
	case v.limit.seen.ProviderKnown && v.limit.seen.ProviderLimit > 0 && v.limit.seen.ProviderLimit < float64(v.limit.declared.Amount):
		return fmt.Sprintf("Lower %s to %s, which is what %s allows, or ask it for more.",
			v.limit.name, amount(v.limit.seen.ProviderLimit), p)
	}
	return fmt.Sprintf("Lower %s below what %s allows this key, ask it for more, or find who else uses the key.", v.limit.name, p)
}
