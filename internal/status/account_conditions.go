// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/plan"
)

func accountConditions(in AccountInputs, limits []accountLimit) accountConditionSet {
	return accountConditionSet{
		accepted: accountAccepted(in), match: limitsMatch(in, limits),
		oversubscribed: oversubscribed(in, limits), degraded: accountDegraded(in),
	}
}

// accountAccepted counts what is there, and names whom the account refuses.
func accountAccepted(in AccountInputs) finding {
	if in.Problems != "" {
		return finding{metav1.ConditionFalse, v1alpha1.ReasonInvalid, in.Problems}
	}
	text := count(len(in.Limits), "limit")
	if !in.Declared {
		text += " learned"
	}
	text += fmt.Sprintf("; %s of %s it.", plural(policiesOf(in.Routes), "policy", "policies"),
		plural(len(namespacesOf(in.Routes)), "namespace refers to", "namespaces refer to"))
	if len(in.Refused) > 0 {
		text += fmt.Sprintf(" Not allowed, though policies there refer to it: %s.", few(in.Refused))
	}
	return finding{metav1.ConditionTrue, v1alpha1.ReasonValid, text}
}

// enoughSaid is how many answers of the provider a conclusion takes: one may be a stray.
const enoughSaid = 2

// aboveProvider is how far a limit may be above the provider's word: both are rounded.
const aboveProvider = 1.01

// limitsMatch compares what is declared with what the provider states.
func limitsMatch(in AccountInputs, limits []accountLimit) finding {
	var above, known *accountLimit
	for i := range limits {
		l := &limits[i]
		if l.said < enoughSaid || l.least <= 0 || l.total() <= 0 || !sameWindow(l) {
			continue
		}
		known = l
		if l.total() > aboveProvider*l.least && (above == nil || l.total()/l.least > above.total()/above.least) {
			above = l
		}
	}
	switch {
	case !in.Declared && len(in.Limits) > 0:
		return finding{metav1.ConditionTrue, v1alpha1.ReasonLearned, learnedWords(limits)}
	case !in.Declared:
		return finding{metav1.ConditionUnknown, v1alpha1.ReasonUnknown, "No limits are declared, and the provider has not stated its own yet: each gateway keeps to what it is told itself."}
	case above != nil:
		return finding{metav1.ConditionFalse, v1alpha1.ReasonDeclaredAboveProvider, fmt.Sprintf(
			"%s: %s is declared, the provider states %s. The provider's rules: it refuses what is above that.", above.declared.Name, above.rate(above.total()), above.rate(above.least))}
	case known == nil:
		return finding{metav1.ConditionUnknown, v1alpha1.ReasonUnknown, "The provider has not stated its limits."}
	}
	return finding{metav1.ConditionTrue, v1alpha1.ReasonMatches, fmt.Sprintf(
		"No limit is above what the provider states; %s: %s of %s.", known.declared.Name, known.rate(known.total()), known.rate(known.least))}
}

// sameWindow: providers state what they allow in a minute, or, of calls at once, in all.
func sameWindow(l *accountLimit) bool { return l.window == time.Minute }

func learnedWords(limits []accountLimit) string {
	text := "None is declared; the provider states"
	sep := " "
	for i := range limits {
		if l := &limits[i]; !l.declared.Watch {
			text += sep + l.declared.Name + " " + l.rate(l.total())
			sep = ", "
		}
	}
	return text + "."
}

// oversubscribed says whether more is promised than there is.
func oversubscribed(in AccountInputs, limits []accountLimit) finding {
	for i := range limits {
		l := &limits[i]
		if sum := ownLimits(in, l.declared); l.total() > 0 && sum > l.total() {
			return finding{metav1.ConditionTrue, v1alpha1.ReasonLimitsExceedAccount, fmt.Sprintf(
				"%s: the policies' own limits add up to %s, the account has %s. What a namespace is to be sure of must be its guaranteedPercent.",
				l.declared.Name, l.rate(sum), l.rate(l.total()))}
		}
	}
	for i := range limits {
		l := &limits[i]
		if sum := largestCalls(in, l.declared); l.total() > 0 && sum > float64(l.declared.Burst) {
			return finding{metav1.ConditionTrue, v1alpha1.ReasonCallsExceedAccount, fmt.Sprintf(
				"%s: the largest calls of all guaranteed lanes add up to %s, and it never holds more than %s, so some wait longer than their share alone would have them.",
				l.declared.Name, amount(sum), amount(float64(l.declared.Burst)))}
		}
	}
	return finding{metav1.ConditionFalse, v1alpha1.ReasonFits, "What policies state fits into the account."}
}

// ownLimits is the sum of the policies' own limits that count the same in the same window, each policy once.
func ownLimits(in AccountInputs, of plan.Limit) float64 {
	if len(of.Models) > 0 {
		return 0
	}
	sum := 0.0
	for i := range in.Routes {
		least := 0.0
		for _, l := range in.Routes[i].Compiled.Limits {
			same := plan.AccountOf(l.Name) == "" && l.Budget == of.Budget && l.WindowSeconds == of.WindowSeconds && len(l.Models) == 0
			if same && (least == 0 || float64(l.Amount) < least) {
				least = float64(l.Amount)
			}
		}
		sum += least
	}
	return sum
}

// largestCalls is the sum of what the largest calls of lanes with a guarantee take of a limit: credits for them must fit
// into its burst together, as in one gateway.
func largestCalls(in AccountInputs, of plan.Limit) float64 {
	if of.Budget != plan.InputTokens && of.Budget != plan.Tokens || len(of.Models) > 0 {
		return 0
	}
	sum := 0.0
	for i := range in.Routes {
		if in.Guaranteed[in.Routes[i].Namespace] == 0 {
			continue
		}
		for _, lane := range in.Routes[i].Compiled.Lanes {
			if lane.SharePermille > 0 {
				sum += float64(lane.LargestCallTokens)
			}
		}
	}
	return sum
}

// accountDegraded says whether something keeps the account from being shared as it should.
func accountDegraded(in AccountInputs) finding {
	b := in.Budgets
	if !in.StoreLost.IsZero() {
		return finding{metav1.ConditionTrue, v1alpha1.ReasonBudgetStoreLost, storeLostSince(in.StoreLost) + "."}
	}
	if overloaded := overloadedRoute(in.Routes); overloaded != "" {
		return finding{metav1.ConditionTrue, v1alpha1.ReasonProviderOverloaded, overloaded}
	}
	switch {
	case in.Young && in.Shared && b.Holders == 0 && b.Silent > 0:
		return finding{metav1.ConditionUnknown, v1alpha1.ReasonUnknown, "No gateway reports yet."}
	case in.Shared && b.Holders == 0 && b.Silent > 0:
		return finding{metav1.ConditionTrue, v1alpha1.ReasonDisconnected, fmt.Sprintf(
			"None of %s reports; until it does, each does what its policy says of an outage, by default a small safe share.", count(b.Silent, "gateway"))}
	case b.Left > 0:
		return finding{metav1.ConditionTrue, v1alpha1.ReasonNoRoom, fmt.Sprintf(
			"There was no room for %s of the policies; their gateways keep to their safe share. Divide the account among fewer lanes.", count(b.Left, "provider"))}
	case b.Unbounded > 0:
		return finding{metav1.ConditionTrue, v1alpha1.ReasonNoRoom, fmt.Sprintf(
			"There was no room for the bounds on what %s borrow. State fewer of them.", plural(b.Unbounded, "namespace may", "namespaces may"))}
	case b.Silent > 0:
		return finding{metav1.ConditionFalse, v1alpha1.ReasonConnected, fmt.Sprintf(
			"Shared by %s; %s, and their safe share is kept for them.", count(b.Holders, "gateway"), plural(b.Silent, "more does not report", "more do not report"))}
	case b.Holders > 0:
		return finding{metav1.ConditionFalse, v1alpha1.ReasonConnected, fmt.Sprintf("Shared by %s.", count(b.Holders, "gateway"))}
	}
	return finding{metav1.ConditionFalse, v1alpha1.ReasonConnected, "No gateway uses it."}
}

// overloadedRoute says so where the provider answers noticeably many sends of all together with an overload.
func overloadedRoute(routes []AccountRoute) string {
	var overloads, sends int64
	for i := range routes {
		for _, p := range routes[i].Figures.Providers {
			if p.Name == routes[i].Compiled.Name {
				overloads, sends = overloads+p.Overloads, sends+p.Sends
			}
		}
	}
	if overloads == 0 || float64(overloads) < overloadShare*float64(sends) {
		return ""
	}
	return fmt.Sprintf("The provider answered %d of %d sends with an overload.", overloads, sends)
}

// accountNextStep is what helps most, if anything does.
func accountNextStep(in AccountInputs, limits []accountLimit, set accountConditionSet) string {
	switch {
	case in.Problems != "":
		return truncate("Correct the spec: "+in.Problems, maxNextStep)
	case set.degraded.reason == v1alpha1.ReasonBudgetStoreLost:
		return "Restore the store that the manager's --budget-store names; the gateways return to their full share by themselves."
	case set.degraded.reason == v1alpha1.ReasonDisconnected:
		return egressRule
	case set.match.reason == v1alpha1.ReasonDeclaredAboveProvider:
		for i := range limits {
			if l := &limits[i]; l.said >= enoughSaid && l.least > 0 && sameWindow(l) && l.total() > aboveProvider*l.least {
				return truncate(fmt.Sprintf("Lower %s to %s, which is what the provider allows, or ask it for more.", l.declared.Name, amount(l.least)), maxNextStep)
			}
		}
	case len(in.Refused) > 0:
		return truncate(fmt.Sprintf("List %s in allowedNamespaces, or remove accountRef from the policies there.", few(in.Refused)), maxNextStep)
	}
	if most := busiest(limits); most != nil && most.state() == v1alpha1.LimitBinding && most.used >= fullFrom*most.total() {
		return truncate(fmt.Sprintf("%s is used up: ask the provider for more, or cut load; namespaces lists who uses most.", most.declared.Name), maxNextStep)
	}
	if set.oversubscribed.status == metav1.ConditionTrue {
		return "State guaranteedPercent for the namespaces that must be sure of a part; the others share what is left."
	}
	return ""
}

// accountEvents tell of transitions, compared with the last status that was written.
func accountEvents(set accountConditionSet, previous v1alpha1.ProviderAccountStatus) []Event {
	var out []Event
	for _, t := range []struct {
		kind, reason string
		finding      finding
		more         string
	}{
		{v1alpha1.ConditionLimitsMatch, v1alpha1.ReasonDeclaredAboveProvider, set.match, ""},
		{v1alpha1.ConditionDegraded, v1alpha1.ReasonBudgetStoreLost, set.degraded, " No call fails for this alone."},
	} {
		old := find(previous.Conditions, t.kind)
		if t.finding.reason == t.reason && (old == nil || old.Reason != t.reason) {
			out = append(out, Event{Reason: t.reason, Message: truncate(t.finding.message+t.more, maxNote)})
		}
	}
	return out
}
