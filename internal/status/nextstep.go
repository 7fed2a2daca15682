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
func nextStep(in Inputs, pods podView, conditions conditionSet, views []providerView, v verdict) string {
	ungoverned := pods.govern()
	switch {
	case in.Accepted.Reason == v1alpha1.ReasonSchemaOutdated:
		return "Apply the CRD of this version of Headgate, then the policy again: what it dropped is not stored."
	case in.Accepted.ofAccount():
		return truncate(in.Accepted.Message, maxNextStep)
	case !in.Accepted.inPlan():
		return truncate("Correct the spec: "+in.Accepted.Message, maxNextStep)
	case conditions.programmed.reason == v1alpha1.ReasonPlanNotStored:
		return truncate("Let the manager write its ConfigMaps in this namespace: "+in.NotStored, maxNextStep)
	case conditions.ready.reason == v1alpha1.ReasonNoPodGoverned:
		return truncate(ungoverned, maxNextStep)
	case v.status() == "True" || v.reason == v1alpha1.ReasonObserveOnly:
		return truncate(v.nextStep(), maxNextStep)
	case conditions.programmed.reason == v1alpha1.ReasonPlanRejected:
		return "Restart the pods whose gateways keep the older plan; they get the newest gateway."
	case conditions.degraded.reason == v1alpha1.ReasonDisconnected:
		return egressRule
	case conditions.degraded.reason == v1alpha1.ReasonBudgetStoreLost:
		return "Restore the store that the manager's --budget-store names; the gateways return to their full share by themselves."
	case conditions.degraded.reason == v1alpha1.ReasonProviderOverloaded:
		return "Nothing to change here: the gateways retry such calls as spec.providers.overload says. The provider's status page may say more."
	}
	if ungoverned == "" {
		ungoverned = stackedAdvice(views)
	}
	if ungoverned == "" {
		ungoverned = deadLettersAdvice(views)
	}
	return truncate(ungoverned, maxNextStep)
}

const egressRule = "Allow egress from the pods to Service headgate-coordinator in namespace headgate-system, port 9443."

// nextStep of a reason is fixed but for its figures.
func (v verdict) nextStep() string {
	switch v.reason {
	case v1alpha1.ReasonPolicyLimit:
		return join(" ", v.limit.relief(v.provider.name), retryingDoesNotHelp)
	case v1alpha1.ReasonAccountShare:
		return join(" ", v.limit.askForMore(v.provider.name), retryingDoesNotHelp)
	case v1alpha1.ReasonProviderLimit:
		return v.lowerOrAsk()
	case v1alpha1.ReasonOutsideTraffic:
		return v.limit.makeRoom(v.provider.name)
	case v1alpha1.ReasonQuotaExhausted:
		again := "One call a minute tries whether it is back."
		if at := v.provider.seen.QuotaResetAt; !at.IsZero() {
			again = fmt.Sprintf("It is back at %s; until then one call an hour tries.", at.UTC().Format("2006-01-02 15:04 MST"))
		}
		return join(" ", "Settle the account with "+v.provider.name+"; raising this policy does not help.", again, retryingDoesNotHelp)
	case v1alpha1.ReasonObserveOnly:
		return "Set mode: Enforce, and the gateways pace these calls instead of letting the provider refuse them."
	}
	return ""
}

func (v verdict) lowerOrAsk() string {
	p := v.provider.name
	switch {
	case v.limit == nil:
		return fmt.Sprintf("Declare limits for %s, so that its calls are paced below what it allows, or ask it for more.", p)
	case v.limit.ofAccount():
		return fmt.Sprintf("Tell the platform team of account %s: it has less at %s than %s, or others use its key.",
			plan.AccountOf(v.limit.declared.Name), p, v.limit.total())
	case v.limit.seen.ProviderKnown && v.limit.seen.ProviderLimit > 0 && v.limit.seen.ProviderLimit < float64(v.limit.declared.Amount):
		return fmt.Sprintf("Lower %s to %s, which is what %s allows, or ask it for more.",
			v.limit.name, amount(v.limit.seen.ProviderLimit), p)
	}
	return fmt.Sprintf("Lower %s below what %s allows this key, ask it for more, or find who else uses the key.", v.limit.name, p)
}
