// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
)

// Exceeded says what happens to a call whose wait is not acceptable.
//
// +kubebuilder:validation:Enum=Decline
type Exceeded string

// Decline answers at once with the provider's own error shape and the wait.
const Decline Exceeded = "Decline"

// Deadline bounds a call's time to its first content byte. It never cuts a stream that has started.
type Deadline struct {
	// default is the deadline of a call that states none of its own; callers may only shorten it. Absent
	// means 60s.
	// +optional
	Default Duration `json:"default,omitempty"`

	// onExceeded is Decline: a call that cannot be made in time is answered at once. Absent means Decline.
	// +optional
	OnExceeded Exceeded `json:"onExceeded,omitempty"`
}

// Throttle is about refusals (429) that state a wait.
type Throttle struct {
	// honourCeiling is the longest stated wait that is waited out; a longer one is neither shortened nor
	// slept. Absent means 30s.
	// +optional
	HonourCeiling Duration `json:"honourCeiling,omitempty"`

	// onCeilingExceeded is Decline: the provider's refusal is passed on with its wait. Absent means Decline.
	// +optional
	OnCeilingExceeded Exceeded `json:"onCeilingExceeded,omitempty"`

	// jitterPercent is the largest random addition to a stated wait, as a share of it, from 0 to 100. It is
	// only ever added. Absent means 25.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +optional
	JitterPercent *int32 `json:"jitterPercent,omitempty"`

	// maxAttempts is the number of sends, the first included, from 1 to 10. Absent means 3.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	// +optional
	MaxAttempts *int32 `json:"maxAttempts,omitempty"`
}

// Jitter names a way to draw a backoff.
//
// +kubebuilder:validation:Enum=Full;Equal
type Jitter string

// The jitters.
const (
	JitterFull  Jitter = "Full"
	JitterEqual Jitter = "Equal"
)

// Unguided is about refusals (429) that state no wait: exponential backoff.
//
// +kubebuilder:validation:XValidation:rule="!has(self.base) || !has(self.cap) || duration(self.base) <= duration(self.cap)",message="base must not be longer than cap"
type Unguided struct {
	// base is the backoff of the first attempt; it doubles with each. Absent means 500ms.
	// +optional
	Base Duration `json:"base,omitempty"`

	// cap is the longest backoff. Absent means 30s.
	// +optional
	Cap Duration `json:"cap,omitempty"`

	// jitter is Full (between 0 and the backoff, with a small minimum) or Equal (between half of it and
	// all of it). Absent means Full.
	// +optional
	Jitter Jitter `json:"jitter,omitempty"`
}

// Overload is about a provider that is overloaded (529, 503): full-jitter exponential backoff.
//
// +kubebuilder:validation:XValidation:rule="!has(self.base) || !has(self.cap) || duration(self.base) <= duration(self.cap)",message="base must not be longer than cap"
type Overload struct {
	// base is the backoff of the first attempt; it doubles with each. Absent means 1s.
	// +optional
	Base Duration `json:"base,omitempty"`

	// cap is the longest backoff. Absent means 30s.
	// +optional
	Cap Duration `json:"cap,omitempty"`

	// maxAttempts is the number of sends, the first included, from 1 to 10. Absent means 4.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	// +optional
	MaxAttempts *int32 `json:"maxAttempts,omitempty"`
}

// Lane is a reserved part of every limit of its provider.
type Lane struct {
	// name appears in status, metrics and refusals. The name default configures the implicit last lane.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	// +required
	Name string `json:"name,omitempty"`

	// match says which calls take the lane. Absent matches every call.
	// +optional
	Match *LaneMatch `json:"match,omitempty"`

	// largestCall is the largest input, in tokens, that the lane is meant for; a whole number such as 60k.
	// Absent means the largest seen. With it, admission rejects a policy whose lanes cannot all be served.
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 1 && self <= 1000000000000 : isQuantity(self) && quantity(self).isInteger() && quantity(self).compareTo(quantity('1')) >= 0 && quantity(self).compareTo(quantity('1T')) <= 0",message="must be a whole number from 1 to 1T, such as 60k"
	// +optional
	LargestCall *resource.Quantity `json:"largestCall,omitempty"`

	// reservedPercent is the share of every limit that the lane is sure of, from 0 to 100; what it does not
	// use is lent and taken back at once. Lanes that state none divide the rest equally.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +optional
	ReservedPercent *int32 `json:"reservedPercent,omitempty"`

	// queue bounds the calls that wait.
	// +optional
	Queue *LaneQueue `json:"queue,omitempty"`
}

// LaneMatch says which calls take a lane.
type LaneMatch struct {
	// minInputTokens matches calls whose estimated input is at least this many tokens; a whole number such
	// as 20k. Absent matches any size.
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 0 && self <= 1000000000000 : isQuantity(self) && quantity(self).isInteger() && quantity(self).compareTo(quantity('0')) >= 0 && quantity(self).compareTo(quantity('1T')) <= 0",message="must be a whole number from 0 to 1T, such as 20k"
	// +optional
	MinInputTokens *resource.Quantity `json:"minInputTokens,omitempty"`
}

// LaneQueue bounds the calls that wait in a lane.
type LaneQueue struct {
	// maxDepth is the number of calls that may wait, from 0 (refuse rather than wait) to 10000. Absent
	// means 256.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	// +optional
	MaxDepth *int32 `json:"maxDepth,omitempty"`

	// maxWait is the longest a call may wait. Absent means 50s.
	// +optional
	MaxWait Duration `json:"maxWait,omitempty"`
}
