// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/plan"
)

// What counts as throttled: waits that people notice, and refusals by the provider that are not a stray.
const (
	// noticeableWait of one call.
	noticeableWait = time.Second
	// noticeableMedian is the wait of half of the calls.
	noticeableMedian = 100 * time.Millisecond
	// strayShare of sends answered 429 is the provider's limit speaking when nothing of ours is binding.
	strayShare = 0.01
	// loudShare is the provider's limit speaking even while one of ours is binding.
	loudShare = 0.05
)

// refusedAsTooLarge is the reason gateways report for a call that can never be sent.
const refusedAsTooLarge = "TooLarge"

// verdict is what holds calls back, if anything.
type verdict struct {
	reason   string
	limit    *limitView
	provider *providerView
}

// judge picks one reason, the one whose next step helps: a spent quota first, then what merely observes,
// then a provider that refuses much, then our own limit, then a provider that refuses a little. previous is
// the limit that was binding before: it stays so while its lanes' figures still show it, so that a queue
// that is empty for a moment does not flip the verdict.
func judge(in Inputs, views []providerView, previous string) verdict {
	if unknown(in) {
		return verdict{reason: v1alpha1.ReasonUnknown}
	}
	if p := worstProvider(views, providerView.exhausted); p != nil {
		return verdict{reason: v1alpha1.ReasonQuotaExhausted, provider: p}
	}
	if p := worstProvider(views, func(v providerView) bool { return !v.route.Observe && v.refusesOver(loudShare) }); p != nil {
		return limitedByProvider(p)
	}
	if l, p := bindingLimit(views, previous); l != nil {
		return verdict{reason: l.reason(), limit: l, provider: p}
	}
	if p := worstProvider(views, func(v providerView) bool { return !v.route.Observe && v.refusesOver(strayShare) }); p != nil {
		return limitedByProvider(p)
	}
	if p := worstProvider(views, func(v providerView) bool { return v.heldByProvider(previous) }); p != nil {
		return limitedByProvider(p)
	}
	if p := worstProvider(views, providerView.wouldThrottle); p != nil {
		return verdict{reason: v1alpha1.ReasonObserveOnly, provider: p, limit: p.fullest()}
	}
	return verdict{reason: v1alpha1.ReasonNotThrottled}
}

// limitedByProvider blames others on the account where they use a noticeable part of its limit.
func limitedByProvider(p *providerView) verdict {
	if l := p.outside(); l != nil {
		return verdict{reason: v1alpha1.ReasonOutsideTraffic, provider: p, limit: l}
	}
	return verdict{reason: v1alpha1.ReasonProviderLimit, provider: p, limit: p.awaited()}
}

// unknown reports whether there are pods, and none of them says anything.
func unknown(in Inputs) bool {
	return len(in.Pods) > 0 && len(in.Figures.Gateways) == 0
}

// worstProvider is the one with most refused sends of those that satisfy.
func worstProvider(views []providerView, satisfies func(providerView) bool) *providerView {
	var worst *providerView
	for i := range views {
		if satisfies(views[i]) && (worst == nil || views[i].seen.TooManyRequests > worst.seen.TooManyRequests) {
			worst = &views[i]
		}
	}
	return worst
}

func (v providerView) exhausted() bool { return v.state() == v1alpha1.ProviderQuotaExhausted }

// refusesOver: the provider answers more than share of the sends with 429.
func (v providerView) refusesOver(share float64) bool {
	return v.seen.TooManyRequests > 0 && float64(v.seen.TooManyRequests) > share*float64(v.seen.Sends)
}

// wouldThrottle: only observed, and the policy or the provider would have held calls back.
func (v providerView) wouldThrottle() bool {
	if !v.route.Observe {
		return false
	}
	for _, l := range v.lanes {
		if l.seen.WouldHaveRefused > 0 {
			return true
		}
	}
	return v.refusesOver(strayShare)
}

// heldBack: calls of the provider were refused by us, or waited noticeably. A call that is refused since no
// limit ever holds it is not held back; it has an Event of its own. Where calls were held back before, half
// the wait is enough, so that a wait about the threshold does not flip the verdict.
func (v providerView) heldBack(before bool) bool {
	median := noticeableMedian
	if before {
		median /= 2
	}
	for _, l := range v.lanes {
		refused := l.seen.Refused - l.seen.RefusedBy[refusedAsTooLarge]
		if refused > 0 || l.seen.WaitMedian >= median || l.seen.QueuedOldest >= noticeableWait {
			return true
		}
	}
	return false
}

// bindingLimit is the binding limit that is asked for most above its amount, of providers whose calls are
// held back.
func bindingLimit(views []providerView, previous string) (*limitView, *providerView) {
	var limit *limitView
	var provider *providerView
	for i := range views {
		v := &views[i]
		if v.route.Observe || !v.heldBack(strings.HasPrefix(previous, v.name+"/")) {
			continue
		}
		for j := range v.limits {
			l := &v.limits[j]
			if !l.seen.Binding && l.name != previous {
				continue
			}
			if limit == nil || l.pressure() > limit.pressure() {
				limit, provider = l, v
			}
		}
	}
	return limit, provider
}

// pressure is how many times the amount is asked for; a binding limit always exceeds one that is not.
func (v limitView) pressure() float64 {
	p := max(v.offered, v.used) / max(v.allowance(), 1)
	if v.seen.Binding {
		p += 1e6
	}
	return p
}

// fullest is the provider's limit that is used most.
func (v providerView) fullest() *limitView {
	if len(v.limits) == 0 {
		return nil
	}
	l := slices.MaxFunc(v.limits, func(a, b limitView) int {
		return cmp.Compare(a.pressure(), b.pressure())
	})
	return &l
}

// status is the condition's: observing throttles nothing.
func (v verdict) status() string {
	switch v.reason {
	case v1alpha1.ReasonUnknown:
		return "Unknown"
	case v1alpha1.ReasonNotThrottled, v1alpha1.ReasonObserveOnly:
		return "False"
	}
	return "True"
}

// message is the condition's, in the words of the reason.
func (v verdict) message(in Inputs, views []providerView) string {
	switch v.reason {
	case v1alpha1.ReasonUnknown:
		return "No gateway reports."
	case v1alpha1.ReasonQuotaExhausted:
		return join(" ", v.provider.quoted("a quota is used up"), "This is billing, not rate.")
	case v1alpha1.ReasonProviderLimit:
		held, kept := "", ""
		if v.limit != nil {
			held, kept = v.limit.leftThere(), v.limit.keepTo()
		}
		return join(" ", held, v.provider.refusals()+".", v.allowed("this policy allows"), kept, v.provider.failedOverWords())
	case v1alpha1.ReasonOutsideTraffic:
		return join(" ", v.limit.usedElsewhere(), v.provider.refusals()+".", v.limit.keepTo(), v.provider.failedOverWords())
	case v1alpha1.ReasonObserveOnly:
		return join(" ", v.allowed("Enforce would allow"), v.provider.refusals()+". Observe delays and refuses nothing.")
	case v1alpha1.ReasonAccountShare:
		return join(" ", v.limit.holdingShare(), v.provider.refusals()+".", v.provider.fillingWords())
	case v1alpha1.ReasonPolicyLimit:
		return join(" ", v.limit.holding(), v.provider.refusals()+".", v.provider.fillingWords())
	}
	return quietMessage(in, views)
}

// allowed compares what is offered with what the limit allows.
func (v verdict) allowed(verb string) string {
	switch {
	case v.limit == nil:
		return ""
	case v.limit.ofAccount():
		return v.limit.holdingShare()
	case v.limit.declared.Budget == plan.InFlight:
		return fmt.Sprintf("%s: %d calls in flight, %s %s at once.", v.limit.name, int64(v.limit.used), verb, v.limit.total())
	}
	return fmt.Sprintf("%s: %s, %s %s.", v.limit.name, v.limit.offeredText(), verb, v.limit.total())
}

// refusals says how many sends the provider refused.
func (v providerView) refusals() string {
	return fmt.Sprintf("The provider refused %d of %d sends (429s: %s)",
		v.seen.TooManyRequests, v.seen.Sends, percent(float64(v.seen.TooManyRequests), float64(v.seen.Sends)))
}

// quoted is the provider's own words, or words of ours where it has none.
func (v providerView) quoted(otherwise string) string {
	said := v.said()
	if said == "" {
		return v.name + ": " + otherwise + "."
	}
	return fmt.Sprintf("%s says: %q.", v.name, strings.TrimRight(said, ". "))
}

// said is the provider's own code and words.
func (v providerView) said() string {
	code := v.seen.StateCode
	if strings.Contains(v.seen.StateMessage, code) {
		code = ""
	}
	return truncate(join(": ", code, v.seen.StateMessage), maxReason)
}

func quietMessage(in Inputs, views []providerView) string {
	var sends, refused int64
	for _, v := range views {
		sends += v.seen.Sends
		refused += v.seen.TooManyRequests
	}
	if sends == 0 {
		return "No call was held back."
	}
	return fmt.Sprintf("No call was held back for long; the provider refused %d of %d sends (429s: %s) in %s.",
		refused, sends, percent(float64(refused), float64(sends)), span(in.Figures.Over))
}
