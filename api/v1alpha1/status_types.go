// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Amount is a figure rounded as people say it: 427k, 2M, 123.
//
// +kubebuilder:validation:MaxLength=16
type Amount string

// Percent is a rounded share: 9.9%.
//
// +kubebuilder:validation:MaxLength=8
type Percent string

// Wait is a rounded time: 27s, 300ms.
//
// +kubebuilder:validation:MaxLength=16
type Wait string

// RateLimitPolicyStatus is what the controller decided and the gateways report. Figures are rounded and
// rewritten on material change only, at most every 30s; exact ones are in the metrics.
type RateLimitPolicyStatus struct {
	// conditions are Accepted, Programmed, Ready, Degraded and Throttled, all present, in this order.
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// gateways counts the pods the policy is meant for and those it reaches.
	// +optional
	Gateways GatewayCounts `json:"gateways,omitempty,omitzero"`

	// lanes are the lanes' figures, named PROVIDER/LANE.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=144
	// +optional
	Lanes []LaneStatus `json:"lanes,omitempty"`

	// limits are the limits' figures, named PROVIDER/LIMIT.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=256
	// +optional
	Limits []LimitStatus `json:"limits,omitempty"`

	// observedGeneration is the generation of the spec that this status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// providers are the providers' figures.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Providers []ProviderStatus `json:"providers,omitempty"`

	// summary is the verdict and the next step.
	// +optional
	Summary Summary `json:"summary,omitempty,omitzero"`
}

// GatewayCounts counts pods.
type GatewayCounts struct {
	// governed pods have a gateway that their apps use.
	// +optional
	Governed int32 `json:"governed"`
	// injected pods have a gateway.
	// +optional
	Injected int32 `json:"injected"`
	// matching pods are what the policy is meant for.
	// +optional
	Matching int32 `json:"matching"`
	// reporting gateways have a live stream to the manager.
	// +optional
	Reporting int32 `json:"reporting"`
	// silent gateways report but have had no call for an hour, with no sign of a bypass.
	// +optional
	Silent int32 `json:"silent"`
	// ungoverned names pods that match and are not governed, at most 10, sorted.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=10
	// +optional
	Ungoverned []UngovernedPod `json:"ungoverned,omitempty"`
	// unknown pods have a gateway of which cannot be known whether their apps use it; they are named with
	// the ungoverned, and counted as neither.
	// +optional
	Unknown int32 `json:"unknown,omitempty"`
	// upToDate gateways run the newest injection contract.
	// +optional
	UpToDate int32 `json:"upToDate"`
}

// UngovernedPod is a pod the policy does not reach, and why.
type UngovernedPod struct {
	// name is the pod's.
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name,omitempty"`
	// reason begins with one word and says what to do.
	// +kubebuilder:validation:MaxLength=256
	// +required
	Reason string `json:"reason,omitempty"`
}

// LaneStatus is one lane's figures over summary.figuresOver.
type LaneStatus struct {
	// name is PROVIDER/LANE.
	// +kubebuilder:validation:MaxLength=96
	// +required
	Name string `json:"name,omitempty"`
	// nextBulkIn is an estimate of when the next large call that waits in the lane goes.
	// +optional
	NextBulkIn Wait `json:"nextBulkIn,omitempty"`
	// offered calls arrived.
	// +optional
	Offered int64 `json:"offered"`
	// priority is the lane's, where the provider's lanes have several.
	// +optional
	Priority *int32 `json:"priority,omitempty"`
	// queueFullIn is when the queue will be full in some gateway, if it goes on growing as in the last minute.
	// +optional
	QueueFullIn Wait `json:"queueFullIn,omitempty"`
	// queued calls wait now.
	// +optional
	Queued int64 `json:"queued"`
	// queuedOldest is how long the oldest of them has waited.
	// +optional
	QueuedOldest Wait `json:"queuedOldest,omitempty"`
	// refusedByPolicy calls were answered by the gateway alone.
	// +optional
	RefusedByPolicy int64 `json:"refusedByPolicy"`
	// refusedMostlyFor is the most frequent reason.
	// +kubebuilder:validation:MaxLength=32
	// +optional
	RefusedMostlyFor string `json:"refusedMostlyFor,omitempty"`
	// sent calls went to the provider.
	// +optional
	Sent int64 `json:"sent"`
	// share is what the lane is sure of, of the provider's first token limit, as far as that is in effect.
	// +kubebuilder:validation:MaxLength=40
	// +optional
	Share string `json:"share,omitempty"`
	// waitForLargest is the longest wait of the lane's largest call that its share allows, over all limits.
	// +optional
	WaitForLargest Wait `json:"waitForLargest,omitempty"`
	// waitMedian is the median wait of the calls sent.
	// +optional
	WaitMedian Wait `json:"waitMedian,omitempty"`
	// waitWorst is the longest.
	// +optional
	WaitWorst Wait `json:"waitWorst,omitempty"`
}

// LimitState says how close a limit is.
//
// +kubebuilder:validation:Enum=Binding;Near;Free
type LimitState string

// The limit states.
const (
	LimitBinding LimitState = "Binding"
	LimitNear    LimitState = "Near"
	LimitFree    LimitState = "Free"
)

// LimitStatus is one limit's figures. Amounts are per window unless they say remaining.
type LimitStatus struct {
	// name is PROVIDER/LIMIT, and PROVIDER/ACCOUNT:LIMIT of an account's.
	// +kubebuilder:validation:MaxLength=128
	// +required
	Name string `json:"name,omitempty"`
	// offered is what the apps asked for.
	// +optional
	Offered Amount `json:"offered,omitempty"`
	// per is the window.
	// +optional
	Per Window `json:"per,omitempty"`
	// remaining is what could go now.
	// +optional
	Remaining Amount `json:"remaining,omitempty"`
	// remainingAtProvider is what the provider last said it has left.
	// +optional
	RemainingAtProvider Amount `json:"remainingAtProvider,omitempty"`
	// remainingHeldForLanes is the part of remaining that lanes have claimed.
	// +optional
	RemainingHeldForLanes Amount `json:"remainingHeldForLanes,omitempty"`
	// share is what this namespace may use of an account's limit now, by what it and others ask for.
	// +optional
	Share Amount `json:"share,omitempty"`
	// state is Binding (calls wait for it, or for what the provider has left of it), Near or Free.
	// +optional
	State LimitState `json:"state,omitempty"`
	// total is the declared amount.
	// +optional
	Total Amount `json:"total,omitempty"`
	// totalAtProvider is the limit the provider states.
	// +optional
	TotalAtProvider Amount `json:"totalAtProvider,omitempty"`
	// totalInEffect is what the gateways use of the amount after the provider refused calls that it should not
	// have; it returns to total by itself.
	// +optional
	TotalInEffect Amount `json:"totalInEffect,omitempty"`
	// used is what was used.
	// +optional
	Used Amount `json:"used,omitempty"`
	// usedBorrowed is the part of used that is beyond what the account guarantees to this namespace.
	// +optional
	UsedBorrowed Amount `json:"usedBorrowed,omitempty"`
	// usedElsewhere is about what others use of the provider's limit, with the same key or account.
	// +optional
	UsedElsewhere Amount `json:"usedElsewhere,omitempty"`
	// usedBy names the pods that used most, at most 3, with their share.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=3
	// +kubebuilder:validation:items:MaxLength=300
	// +optional
	UsedBy []string `json:"usedBy,omitempty"`
}

// ProviderState says how a provider answers.
//
// +kubebuilder:validation:Enum=Healthy;Idle;Throttling;Overloaded;QuotaExhausted
type ProviderState string

// The provider states.
const (
	ProviderHealthy        ProviderState = "Healthy"
	ProviderIdle           ProviderState = "Idle"
	ProviderThrottling     ProviderState = "Throttling"
	ProviderOverloaded     ProviderState = "Overloaded"
	ProviderQuotaExhausted ProviderState = "QuotaExhausted"
)

// ProviderStatus is one provider's figures over summary.figuresOver.
type ProviderStatus struct {
	// name is the provider's.
	// +kubebuilder:validation:MaxLength=40
	// +required
	Name string `json:"name,omitempty"`
	// deadLetters are deferred calls that were given up, kept now.
	// +optional
	DeadLetters *int64 `json:"deadLetters,omitempty"`
	// deferred counts calls that were answered 202, to be made later.
	// +optional
	Deferred *int64 `json:"deferred,omitempty"`
	// deferredWaiting are those still to be made now.
	// +optional
	DeferredWaiting *int64 `json:"deferredWaiting,omitempty"`
	// failedOver counts calls that the provider named by failoverTo answered instead.
	// +optional
	FailedOver *int64 `json:"failedOver,omitempty"`
	// message is the provider's own code and words for a state that is not Healthy or Idle, and a sentence where
	// an SDK repeats calls as well as the gateway, with the setting that ends it.
	// +kubebuilder:validation:MaxLength=256
	// +optional
	Message string `json:"message,omitempty"`
	// overloads counts 529, 503 and capacity errors.
	// +optional
	Overloads *int64 `json:"overloads,omitempty"`
	// sends counts requests that left for the provider.
	// +optional
	Sends *int64 `json:"sends,omitempty"`
	// sendsPerCall is sends for each call that left.
	// +kubebuilder:validation:MaxLength=8
	// +optional
	SendsPerCall string `json:"sendsPerCall,omitempty"`
	// state is Healthy, Idle, Throttling, Overloaded or QuotaExhausted.
	// +optional
	State ProviderState `json:"state,omitempty"`
	// tooManyRequests counts 429s.
	// +optional
	TooManyRequests *int64 `json:"tooManyRequests,omitempty"`
	// tooManyRequestsRate is their share of sends.
	// +optional
	TooManyRequestsRate Percent `json:"tooManyRequestsRate,omitempty"`
	// unguided counts 429s that stated no wait.
	// +optional
	Unguided *int64 `json:"unguided,omitempty"`
}

// Summary is the verdict, for the columns of kubectl get and the end of kubectl describe.
type Summary struct {
	// bindingLimit is the limit calls wait for, or -.
	// +kubebuilder:validation:MaxLength=128
	// +optional
	BindingLimit string `json:"bindingLimit,omitempty"`
	// figuresAt is when the figures were taken.
	// +optional
	FiguresAt *metav1.Time `json:"figuresAt,omitempty"`
	// figuresOver is the time they cover.
	// +optional
	FiguresOver Wait `json:"figuresOver,omitempty"`
	// mode is the policy's mode, with the default filled in.
	// +optional
	Mode Mode `json:"mode,omitempty"`
	// nextStep says what to do, if anything.
	// +kubebuilder:validation:MaxLength=512
	// +optional
	NextStep string `json:"nextStep,omitempty"`
	// pods is governed/matching.
	// +kubebuilder:validation:MaxLength=24
	// +optional
	Pods string `json:"pods,omitempty"`
	// providers lists the providers' names.
	// +kubebuilder:validation:MaxLength=256
	// +optional
	Providers string `json:"providers,omitempty"`
	// refusedByPolicy is the share of calls the gateways answered themselves.
	// +optional
	RefusedByPolicy Percent `json:"refusedByPolicy,omitempty"`
	// tooManyRequests is the share of sends the provider answered 429.
	// +optional
	TooManyRequests Percent `json:"tooManyRequests,omitempty"`
	// wait is the median wait of the lane that waits longest.
	// +optional
	Wait Wait `json:"wait,omitempty"`
}
