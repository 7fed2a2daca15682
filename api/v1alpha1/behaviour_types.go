// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Exceeded says what happens to a call that cannot be made within its deadline.
//
// +kubebuilder:validation:Enum=Decline;Defer
type Exceeded string

// What happens to a call that cannot be made within its deadline.
const (
	// Decline answers at once with the provider's own error shape and the wait.
	Decline Exceeded = "Decline"
	// Defer answers 202 with a ticket, and the call is made later without its caller.
	Defer Exceeded = "Defer"
)

// CeilingExceeded says what happens to a call that the provider tells to wait longer than honourCeiling.
//
// +kubebuilder:validation:Enum=Decline;Defer;Failover
type CeilingExceeded string

// What happens to a call that the provider tells to wait longer than honourCeiling.
const (
	// CeilingDecline passes the provider's refusal on with its wait.
	CeilingDecline CeilingExceeded = "Decline"
	// CeilingDefer answers 202 with a ticket, and the call is made later without its caller.
	CeilingDefer CeilingExceeded = "Defer"
	// CeilingFailover makes the call anew at the provider that failoverTo names.
	CeilingFailover CeilingExceeded = "Failover"
)

// Deadline bounds a call's time to its first content byte. It never cuts a stream that has started.
type Deadline struct {
	// default is the deadline of a call that states none of its own; callers may only shorten it. Absent
	// means 60s.
	// +optional
	Default Duration `json:"default,omitempty"`

	// onExceeded is what happens to a call that cannot be made in time. Decline answers it at once with the
	// wait. Defer answers 202 with a ticket and makes the call later, without its caller; it requires
	// credentialKey. Absent means Decline.
	// +optional
	OnExceeded Exceeded `json:"onExceeded,omitempty"`
}

// Throttle is about refusals (429) that state a wait.
//
// +kubebuilder:validation:XValidation:rule="(has(self.onCeilingExceeded) && self.onCeilingExceeded == 'Failover') == has(self.failoverTo)",message="failoverTo is required with onCeilingExceeded: Failover, and forbidden without"
type Throttle struct {
	// honourCeiling is the longest stated wait that is waited out; a longer one is neither shortened nor
	// slept. Absent means 30s.
	// +optional
	HonourCeiling Duration `json:"honourCeiling,omitempty"`

	// onCeilingExceeded is what happens when the stated wait is longer than honourCeiling. Decline passes the
	// refusal on with its wait. Defer answers 202 with a ticket and makes the call later, without its caller;
	// it requires credentialKey. Failover makes it anew at failoverTo. Absent means Decline.
	// +optional
	OnCeilingExceeded CeilingExceeded `json:"onCeilingExceeded,omitempty"`

	// failoverTo names the provider of this policy that takes the call with Failover: another one, of the same
	// dialect, which does not fail over itself. The call is charged to that provider's limits and takes its
	// lanes and its key.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +optional
	FailoverTo string `json:"failoverTo,omitempty"`

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
