// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Condition types, in the order in which status carries them.
const (
	// ConditionAccepted says whether the spec means something and is not overridden.
	ConditionAccepted = "Accepted"
	// ConditionProgrammed says whether the gateways run this generation.
	ConditionProgrammed = "Programmed"
	// ConditionReady says whether pods are governed.
	ConditionReady = "Ready"
	// ConditionDegraded says whether something outside the policy limits what it can do.
	ConditionDegraded = "Degraded"
	// ConditionThrottled says whether calls wait or are refused, and for what.
	ConditionThrottled = "Throttled"
)

// Reasons of Accepted.
const (
	ReasonValid      = "Valid"
	ReasonInvalid    = "Invalid"
	ReasonOverridden = "Overridden"
	ReasonPlanTooBig = "PlanTooBig"
)

// Reasons of Programmed.
const (
	ReasonAcknowledged   = "Acknowledged"
	ReasonPending        = "Pending"
	ReasonPlanRejected   = "PlanRejected"
	ReasonNoMatchingPods = "NoMatchingPods"
	ReasonNoReports      = "NoReports"
)

// Reasons of Ready, beside NoMatchingPods and Invalid.
const (
	ReasonAllGoverned    = "AllGoverned"
	ReasonPartlyGoverned = "PartlyGoverned"
	ReasonNoPodGoverned  = "NoPodGoverned"
	ReasonRoutingUnknown = "RoutingUnknown"
)

// Reasons of Degraded.
const (
	ReasonConnected          = "Connected"
	ReasonDisconnected       = "GatewaysDisconnected"
	ReasonProviderOverloaded = "ProviderOverloaded"
)

// Reasons of Throttled. Each has a fixed next step.
const (
	ReasonNotThrottled  = "NotThrottled"
	ReasonPolicyLimit   = "PolicyLimit"
	ReasonProviderLimit = "ProviderLimit"
	// ReasonOutsideTraffic says that others use the provider's limit with the same key or account.
	ReasonOutsideTraffic = "OutsideTraffic"
	ReasonQuotaExhausted = "QuotaExhausted"
	ReasonObserveOnly    = "ObserveOnly"
	ReasonUnknown        = "Unknown"
)

// Reasons of Events, beside those above.
const (
	EventPodsNotInjected = "PodsNotInjected"
	EventBypassSuspected = "BypassSuspected"
	EventCallTooLarge    = "CallTooLarge"
	EventStackedRetries  = "StackedRetries"
)

// Labels.
const (
	// LabelInject on a namespace or pod: enabled asks for injection, disabled on a pod forbids it.
	LabelInject = "headgate.dev/inject"
)

// Values of LabelInject.
const (
	InjectEnabled  = "enabled"
	InjectDisabled = "disabled"
)
