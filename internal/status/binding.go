// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"

	"github.com/headgate-dev/headgate/internal/figures"
	"github.com/headgate-dev/headgate/internal/plan"
)

// binding is the way in which a limit of ours holds calls back. Each needs words of its own: to say of less
// that is offered than is allowed that it is too much would be absurd, and raising the amount would not help.
type binding int

const (
	// byAmount: more is offered than the limit allows, all the time that figures cover.
	byAmount binding = iota
	// byPeak: more was offered in the busiest minute, and less on average.
	byPeak
	// byCap: a window longer than figures look back on is used up.
	byCap
	// byFull: nearly as much is offered as the limit allows, so calls wait for each other.
	byFull
	// byBurst: calls come in bursts above what the limit holds at once.
	byBurst
)

// fullFrom of the amount on, calls wait for each other whenever they do not come evenly.
const fullFrom = 0.95

func (v limitView) bindsBy() binding {
	allowed := float64(v.declared.Amount)
	switch {
	case v.rate() > allowed:
		return byAmount
	case v.seen.Offered.Peak(v.window) > allowed:
		return byPeak
	case v.window > figures.Window:
		return byCap
	case v.rate() >= fullFrom*allowed:
		return byFull
	}
	return byBurst
}

// young: there has been traffic for less than the limit's window.
func (v limitView) young() bool {
	over := v.seen.Offered.RecentOver()
	return v.window <= figures.Window && over > 0 && over < v.window
}

// rate is what is offered per window. Of a time shorter than that it is what would be, were it to go on.
func (v limitView) rate() float64 {
	if !v.young() {
		return v.offered
	}
	return v.seen.Offered.Recent() * float64(v.window) / float64(v.seen.Offered.RecentOver())
}

// offeredText is the amount that was seen, with its time: 427k/min, or 120k in 20s.
func (v limitView) offeredText() string {
	if v.young() {
		return fmt.Sprintf("%s offered in %s", amount(v.seen.Offered.Recent()), span(v.seen.Offered.RecentOver()))
	}
	return fmt.Sprintf("%s%s offered", amount(v.offered), perWindow(v.per))
}

// holding says how the limit holds calls back.
func (v limitView) holding() string {
	if v.declared.Budget == plan.InFlight {
		return fmt.Sprintf("%s: %d calls in flight, this policy allows %s at once.", v.name, int64(v.used), v.total())
	}
	switch v.bindsBy() {
	case byAmount:
	case byPeak:
		return fmt.Sprintf("%s: %s on average and %s%s at its busiest, this policy allows %s.",
			v.name, v.offeredText(), amount(v.seen.Offered.Peak(v.window)), perWindow(v.per), v.total())
	case byCap:
		return fmt.Sprintf("%s: the %s that this policy allows is used up.", v.name, v.total())
	case byFull:
		return fmt.Sprintf("%s: %s, nearly all of the %s this policy allows, so calls wait for each other.", v.name, v.offeredText(), v.total())
	case byBurst:
		return fmt.Sprintf("%s: %s, below the %s this policy allows, but in short bursts above the %s it holds at once.",
			v.name, v.offeredText(), v.total(), amount(float64(v.declared.Burst)))
	}
	return fmt.Sprintf("%s: %s, this policy allows %s.", v.name, v.offeredText(), v.total())
}

// relief is what helps, in the words of the way the limit binds.
func (v limitView) relief(provider string) string {
	if v.declared.Budget == plan.InFlight {
		return fmt.Sprintf("Raise %s above %s, or %s.", v.name, v.total(), v.cut())
	}
	how := v.bindsBy()
	known := v.seen.ProviderKnown && v.seen.ProviderLimit > 0
	switch {
	case how == byBurst && known && v.seen.ProviderLimit <= float64(v.declared.Burst):
		return fmt.Sprintf("Spread the calls over time: %s is all that %s takes at once.", amount(v.seen.ProviderLimit), provider)
	case how == byBurst:
		return fmt.Sprintf("Raise the burst of %s above %s, or spread the calls over time.", v.name, amount(float64(v.declared.Burst)))
	case known && v.seen.ProviderLimit <= float64(v.declared.Amount):
		return fmt.Sprintf("%s is all that %s allows (%s): ask it for more, or %s.", v.name, provider, amount(v.seen.ProviderLimit), v.cut())
	case how == byCap || how == byFull:
		return fmt.Sprintf("Raise %s above %s%s, or %s.", v.name, v.total(), v.left(), v.cut())
	}
	return fmt.Sprintf("Raise %s to %s or more%s, or %s.", v.name, v.needed(how), v.left(), v.cut())
}

// needed is the amount with which what was offered would have passed.
func (v limitView) needed(how binding) string {
	if how == byPeak {
		return string(raisedAmount(v.seen.Offered.Peak(v.window)))
	}
	return string(raisedAmount(v.rate()))
}

// left is what the provider still has, where it says so.
func (v limitView) left() string {
	if !v.seen.ProviderKnown {
		return ""
	}
	return fmt.Sprintf(" (%s left at the provider)", amount(v.seen.ProviderRemaining))
}

// A pod is worth naming that uses so many times the even share, and this much of the whole.
const (
	standsOut   = 1.5
	worthNaming = 0.1
)

// cut names who uses most, if one clearly does.
func (v limitView) cut() string {
	if len(v.seen.UsedBy) == 0 {
		return "cut load"
	}
	top := v.seen.UsedBy[0]
	if top.Fraction < worthNaming || top.Fraction*float64(v.gateways) <= standsOut {
		return "cut load"
	}
	return fmt.Sprintf("cut load: %s uses %s", top.Pod, wholePercent(top.Fraction, 1))
}
