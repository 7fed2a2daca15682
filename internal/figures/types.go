// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package figures

import "time"

// Window is how far figures look back.
const Window = 5 * time.Minute

// Pod names a gateway's pod.
type Pod struct {
	Namespace string
	Name      string
	UID       string
}

// PolicyFigures are one policy's figures, over all gateways that report for it.
type PolicyFigures struct {
	At time.Time
	// Over is the time the counts cover: from the first traffic within Window to now. Before that there was
	// none. Without traffic it is the time that was watched, at most Window.
	Over time.Duration
	// Gateways that report now, by name of pod.
	Gateways []GatewayFigures
	// Limits by provider and name.
	Limits []LimitFigures
	// Lanes by provider and name.
	Lanes []LaneFigures
	// Providers by name.
	Providers []ProviderFigures
}

// GatewayFigures are what is known of one gateway that runs the policy.
type GatewayFigures struct {
	Pod string
	UID string
	// Generation of the policy in force there: the lowest of its routes.
	Generation int64
	// Since is when the gateway started, as far as is known.
	Since      time.Time
	LastReport time.Time
	// LastCall is zero when none was seen, LastPolicyCall when none was for the policy.
	LastCall       time.Time
	LastPolicyCall time.Time
	// Draining gateways are about to leave.
	Draining bool
	// Contract is the injection contract the gateway speaks, empty when unknown. Reports do not say it; who
	// knows the gateway's stream fills it in.
	Contract string
}

// LimitFigures are one limit's figures.
type LimitFigures struct {
	Provider string
	Name     string
	// Offered is what the apps asked for, by estimate, refused calls included.
	Offered Flow
	// Used is what was settled.
	Used Flow
	// InUse is what calls hold now: reservations, or slots.
	InUse float64
	// Remaining is the sum of the gateways' levels; negative is debt.
	Remaining float64
	// Capacity is the sum of the gateways' shares.
	Capacity float64
	// HeldForLanes is the part of Remaining that lanes have claimed.
	HeldForLanes float64
	// Binding: calls wait for this limit.
	Binding bool
	// ProviderKnown says that the next two were reported, by the gateway that sent last.
	ProviderKnown     bool
	ProviderRemaining float64
	ProviderLimit     float64
	// ProviderSaid counts the answers in which the provider told the limit, to gateways that sent within the window and
	// report; ProviderLeast is the least of what each of these was told last.
	ProviderSaid  int
	ProviderLeast float64
	// ProviderBinding: calls wait for what the provider allows.
	ProviderBinding bool
	// Effective is the part of the provider's rate that the gateways use after it refused, above 0 to 1.
	Effective float64
	// OutsidersPerSecond is what others are taken to spend of the account; 0 also where no gateway can tell.
	OutsidersPerSecond float64
	// UsedBy are the pods that used most, at most 3, most first.
	UsedBy []PodShare
}

// PodShare is a pod's part of what was used.
type PodShare struct {
	Pod string
	// Fraction is between 0 and 1.
	Fraction float64
}

// LaneFigures are one lane's figures.
type LaneFigures struct {
	Provider string
	Name     string
	// Counts over Over.
	Offered          int64
	Sent             int64
	Cancelled        int64
	WouldHaveRefused int64
	// Refused is the sum of RefusedBy; RefusedMostlyFor the most frequent reason, empty when none.
	Refused          int64
	RefusedBy        map[string]int64
	RefusedMostlyFor string
	// Queued is now, QueuedOldest how long the oldest of them has waited.
	Queued       int64
	QueuedOldest time.Duration
	// Growing says that the queue grew over the last minute, and FullIn when that will have filled that of the
	// fullest gateway: 0 is now.
	Growing bool
	FullIn  time.Duration
	// WaitMedian and WaitWorst are of the calls sent. The median is read from a histogram.
	WaitMedian time.Duration
	WaitWorst  time.Duration
	// LargestCallTokens is the largest call any gateway has seen.
	LargestCallTokens float64
}

// ProviderFigures are one provider's figures. Counts are over Over.
type ProviderFigures struct {
	Name string
	// Calls that left at least once, and the Sends they took.
	Calls           int64
	Sends           int64
	TooManyRequests int64
	Overloads       int64
	Unguided        int64
	TransientErrors int64
	PermanentErrors int64
	QuotaExhausted  int64
	StackedRetries  int64
	// StackedMostlyBy is the one of wire.SDKs with most of them, empty without any.
	StackedMostlyBy      string
	TooLarge             int64
	LargestTooLarge      int64
	EstimatedSettlements int64
	TruncatedStreams     int64
	// FailedOver calls were answered by another route, Deferred ones taken in to be made later.
	FailedOver int64
	Deferred   int64
	// DeferredWaiting and DeadLetters are now: calls still to be made, and calls that were given up.
	DeferredWaiting int64
	DeadLetters     int64
	// State is the worst any gateway reports: Healthy, Idle, Throttling, Overloaded or QuotaExhausted.
	State string
	// StateMessage is the provider's own words for it.
	StateMessage string
	// StateCode is the provider's own code for it.
	StateCode string
	// QuotaResetAt is zero when unknown.
	QuotaResetAt time.Time
	// LastCall is zero when none was seen.
	LastCall time.Time
}

// Silent reports whether the gateway has had no call for the time given.
func (g GatewayFigures) Silent(now time.Time, after time.Duration) bool {
	last := g.LastCall
	if last.Before(g.Since) {
		last = g.Since
	}
	return now.Sub(last) >= after
}
