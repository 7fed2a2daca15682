// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/plan"
)

// limitStatuses are sorted by name. A free limit shows six keys; more would hide those that matter.
//
// Without a report nothing is claimed of what remains.
func limitStatuses(views []providerView, reported bool) []v1alpha1.LimitStatus {
	var out []v1alpha1.LimitStatus
	for _, v := range allLimits(views) {
		s := v1alpha1.LimitStatus{Name: v.name, Per: v.per, Total: amount(float64(v.declared.Amount))}
		if !reported {
			out = append(out, s)
			continue
		}
		s.State, s.Remaining, s.Used = v.state(), amount(v.remaining()), amount(v.used)
		v.addShare(&s)
		if v.reduced() {
			s.TotalInEffect = amount(v.inEffect())
		}
		if used := v.elsewhere(); used > 0 {
			s.UsedElsewhere = amount(used)
		}
		if s.State != v1alpha1.LimitFree || s.TotalInEffect != "" || s.UsedElsewhere != "" {
			v.addDetail(&s)
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b v1alpha1.LimitStatus) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func (v limitView) remaining() float64 {
	if v.declared.Budget == plan.InFlight {
		return float64(v.declared.Amount) - v.seen.InUse
	}
	left := v.seen.Remaining
	if v.shared != nil {
		// What gateways do not need they leave to the coordinator.
		left += v.shared.Level
	}
	return min(left, float64(v.declared.Burst))
}

func (v limitView) addDetail(s *v1alpha1.LimitStatus) {
	if v.declared.Budget != plan.InFlight {
		s.Offered = amount(v.offered)
	}
	if v.seen.ProviderKnown {
		s.RemainingAtProvider = amount(v.seen.ProviderRemaining)
		s.TotalAtProvider = amount(v.seen.ProviderLimit)
	}
	if v.seen.HeldForLanes >= 1 {
		s.RemainingHeldForLanes = amount(min(v.seen.HeldForLanes, max(v.remaining(), 0)))
	}
	for _, u := range v.seen.UsedBy[:min(len(v.seen.UsedBy), MaxUsedBy)] {
		s.UsedBy = append(s.UsedBy, u.Pod+" "+wholePercent(u.Fraction, 1))
	}
}

// laneStatuses are sorted by name. The implicit last lane is left out while nothing uses it and there are
// others.
func laneStatuses(views []providerView) []v1alpha1.LaneStatus {
	var out []v1alpha1.LaneStatus
	for _, v := range allLanes(views) {
		if v.implicit() && !v.onlyDefault && v.seen.Offered == 0 && v.seen.Queued == 0 {
			continue
		}
		s := v1alpha1.LaneStatus{
			Name: v.name, Offered: v.seen.Offered, Sent: v.seen.Sent, Queued: v.seen.Queued,
			RefusedByPolicy: v.seen.Refused, Share: v.share(), WaitForLargest: v.waitForLargest(),
			Priority: v.priority(), QueueFullIn: v.queueFullIn(), NextBulkIn: v.nextBulkIn(),
		}
		if v.seen.Refused > 0 {
			s.RefusedMostlyFor = truncate(v.seen.RefusedMostlyFor, 32)
		}
		if v.seen.Queued > 0 {
			s.QueuedOldest = wait(v.seen.QueuedOldest)
		}
		if v.seen.Sent > 0 {
			s.WaitMedian, s.WaitWorst = wait(v.seen.WaitMedian), wait(v.seen.WaitWorst)
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b v1alpha1.LaneStatus) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// implicit reports whether the lane is the last one that nobody reserved anything for.
func (v laneView) implicit() bool {
	return v.declared.Name == "default" && v.declared.SharePermille == 0
}

// share is the sure part of the provider's first token limit.
func (v laneView) share() string {
	if v.first == nil || v.first.Account != "" && v.first.Amount == 0 {
		return ""
	}
	return fmt.Sprintf("%s per %s", amount(v.sure()), windowName(v.first.WindowSeconds))
}

func (v laneView) sure() float64 {
	return float64(v.first.Amount) * float64(v.declared.SharePermille) / 1000
}

// waitForLargest is the time in which the lane's sure part alone refills what its largest declared call needs of any
// limit, from nothing.
func (v laneView) waitForLargest() v1alpha1.Wait {
	if v.declared.LargestCallTokens == 0 || v.onlyBorrows() {
		return ""
	}
	longest, limit, bounded := v.route.WaitBound(&v.declared, v.declared.LargestCallTokens)
	if !bounded || limit == "" {
		return ""
	}
	return wait(longest)
}

// providerStatuses are sorted by name. An idle provider has name and state only.
func providerStatuses(views []providerView, reported bool) []v1alpha1.ProviderStatus {
	var out []v1alpha1.ProviderStatus
	for _, v := range views {
		s := v1alpha1.ProviderStatus{Name: v.name}
		if !reported {
			out = append(out, s)
			continue
		}
		s.State = v.state()
		switch s.State {
		case v1alpha1.ProviderIdle:
		case v1alpha1.ProviderHealthy:
			v.addCounts(&s)
		default:
			s.Message = v.said()
			v.addCounts(&s)
		}
		if s.State != v1alpha1.ProviderIdle {
			s.Message = truncate(join(" ", s.Message, v.stackedWords()), maxReason)
		}
		v.addElsewhere(&s)
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b v1alpha1.ProviderStatus) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// state is the reported one, of the known set; a provider with sends is not idle and one without is,
// unless its quota or an overload says why nothing was sent.
func (v providerView) state() v1alpha1.ProviderState {
	switch s := v1alpha1.ProviderState(v.seen.State); s {
	case v1alpha1.ProviderThrottling, v1alpha1.ProviderOverloaded, v1alpha1.ProviderQuotaExhausted:
		return s
	default:
		if v.seen.Sends > 0 {
			return v1alpha1.ProviderHealthy
		}
		return v1alpha1.ProviderIdle
	}
}

func (v providerView) addCounts(s *v1alpha1.ProviderStatus) {
	s.Overloads, s.Sends = &v.seen.Overloads, &v.seen.Sends
	s.TooManyRequests, s.Unguided = &v.seen.TooManyRequests, &v.seen.Unguided
	s.TooManyRequestsRate = percent(float64(v.seen.TooManyRequests), float64(v.seen.Sends))
	if v.seen.Calls > 0 {
		s.SendsPerCall = fmt.Sprintf("%.2f", float64(v.seen.Sends)/float64(v.seen.Calls))
	}
}
