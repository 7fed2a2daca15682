// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"slices"

	"github.com/headgate-dev/headgate/internal/plan"
)

const (
	// reducedBelow is the part of an amount from which it is worth saying that less is in effect.
	reducedBelow = 0.995
	// scarce is the part of the provider's limit that is nothing left.
	scarce = 0.1
	// ownPart of the provider's limit at our busiest explains refusals by what went through here.
	ownPart = 0.7
	// elsewherePart of a limit is worth naming: less is lost in the roundings of reports and estimates.
	elsewherePart = 0.1
)

// atProvider is the whole of which the provider gives: its limit, where it says one, else the declared amount.
func (v limitView) atProvider() float64 {
	if v.seen.ProviderKnown && v.seen.ProviderLimit > 0 {
		return v.seen.ProviderLimit
	}
	return float64(v.declared.Amount)
}

// inEffect is what the gateways use of the amount: less of the provider's rate after it refused calls.
func (v limitView) inEffect() float64 {
	declared := float64(v.declared.Amount)
	if v.declared.Budget == plan.InFlight || !(v.seen.Effective > 0 && v.seen.Effective < 1) {
		return declared
	}
	return min(declared, v.seen.Effective*v.atProvider())
}

func (v limitView) reduced() bool { return v.inEffect() < reducedBelow*float64(v.declared.Amount) }

// elsewhere is about what others use of the provider's limit in a window. Gateways that are alone with a limit estimate
// it. Else it is what is left over: where the provider refuses and has nothing left although clearly less than its limit
// went through here even at our busiest, others took the rest.
func (v limitView) elsewhere() float64 {
	// Others on an account are other namespaces, of whom this one is told nothing.
	if v.declared.Budget == plan.InFlight || v.observe || v.account {
		return 0
	}
	whole := v.atProvider()
	used := min(v.seen.OutsidersPerSecond*v.window.Seconds(), whole)
	exhausted := v.seen.ProviderKnown && v.seen.ProviderLimit > 0 && v.seen.ProviderRemaining <= scarce*whole
	if ours := v.seen.Used.Peak(v.window); v.refused && exhausted && !v.young() && ours < ownPart*whole {
		used = max(used, whole-ours)
	}
	if used < elsewherePart*whole {
		return 0
	}
	return used
}

// outside is the limit of which others use most; nil if they use none noticeably.
func (v providerView) outside() *limitView {
	var most *limitView
	for i := range v.limits {
		l := &v.limits[i]
		if l.elsewhere() > 0 && (most == nil || l.elsewhere()/l.atProvider() > most.elsewhere()/most.atProvider()) {
			most = l
		}
	}
	return most
}

// heldByProvider: calls wait because the provider has nothing left, and nothing of ours holds them. previous is what
// they waited for before.
func (v providerView) heldByProvider(previous string) bool {
	if v.route.Observe || !v.heldBack(previous == v.name) {
		return false
	}
	return len(v.limits) == 0 || previous == v.name ||
		slices.ContainsFunc(v.limits, func(l limitView) bool { return l.seen.ProviderBinding })
}

// awaited is the limit whose allowance at the provider calls wait for, else the one that is used most.
func (v providerView) awaited() *limitView {
	for i := range v.limits {
		if v.limits[i].seen.ProviderBinding {
			return &v.limits[i]
		}
	}
	return v.fullest()
}

// leftThere compares what the provider has left with its limit.
func (v limitView) leftThere() string {
	switch {
	case !v.seen.ProviderBinding:
		return ""
	case v.seen.ProviderKnown && v.seen.ProviderLimit > 0:
		return fmt.Sprintf("%s: the provider has %s of %s left, so calls wait for it.", v.name, amount(v.seen.ProviderRemaining), amount(v.seen.ProviderLimit))
	}
	return fmt.Sprintf("%s: calls wait for what the provider allows.", v.name)
}

// keepTo says that less than the amount is in effect.
func (v limitView) keepTo() string {
	if !v.reduced() {
		return ""
	}
	return fmt.Sprintf("Since it refused calls, the gateways keep to %s%s of it until it stops.", amount(v.inEffect()), perWindow(v.per))
}

// usedElsewhere says how much others use, of what.
func (v limitView) usedElsewhere() string {
	return fmt.Sprintf("%s: about %s%s of the provider's %s%s are used elsewhere with this key or account.",
		v.name, amount(v.elsewhere()), perWindow(v.per), amount(v.atProvider()), perWindow(v.per))
}

// makeRoom is what helps against others on the account.
func (v limitView) makeRoom(provider string) string {
	text := fmt.Sprintf("Find who else uses the key or account of %s, or give these pods one of their own.", provider)
	if rest := v.atProvider() - v.elsewhere(); rest >= 1 && rest < float64(v.declared.Amount) {
		text += fmt.Sprintf(" Until then lower %s to %s, so that calls wait here instead of being refused there.", v.name, amount(rest))
	}
	return text
}
