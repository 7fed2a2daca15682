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

// Condition types of ProviderAccounts, in the order in which status carries them: Accepted, these, and Degraded.
const (
	// ConditionLimitsMatch says whether the limits are those that the provider states.
	ConditionLimitsMatch = "LimitsMatch"
	// ConditionOversubscribed says whether more was promised to namespaces than the account has.
	ConditionOversubscribed = "Oversubscribed"
)

// Reasons of Accepted.
const (
	ReasonValid      = "Valid"
	ReasonInvalid    = "Invalid"
	ReasonOverridden = "Overridden"
	ReasonPlanTooBig = "PlanTooBig"
	// ReasonSchemaOutdated: the installed CRD is older than the manager, and drops fields that policies may have.
	ReasonSchemaOutdated = "SchemaOutdated"
	// ReasonAccountNotFound: no ProviderAccount has the name that accountRef gives, or it is not accepted.
	ReasonAccountNotFound = "AccountNotFound"
	// ReasonAccountNotAllowed: the account's allowedNamespaces do not list this namespace.
	ReasonAccountNotAllowed = "AccountNotAllowed"
)

// Reasons of LimitsMatch, beside Unknown: the provider states nothing, or no call was made yet.
const (
	ReasonMatches = "Matches"
	// ReasonLearned: none are declared, and what the provider states is taken for them.
	ReasonLearned = "Learned"
	// ReasonDeclaredAboveProvider: more is declared than the provider states.
	ReasonDeclaredAboveProvider = "DeclaredAboveProvider"
)

// Reasons of Oversubscribed.
const (
	ReasonFits = "Fits"
	// ReasonLimitsExceedAccount: the policies' own limits add up to more than the account's.
	ReasonLimitsExceedAccount = "LimitsExceedAccount"
	// ReasonCallsExceedAccount: the largest calls of guaranteed lanes do not fit into the account's burst together.
	ReasonCallsExceedAccount = "CallsExceedAccount"
)

// Reasons of Programmed.
const (
	ReasonAcknowledged = "Acknowledged"
	ReasonPending      = "Pending"
	ReasonPlanRejected = "PlanRejected"
	// ReasonPlanNotStored: the API server refuses a ConfigMap of the namespace, for a quota, its size or a policy of admission,
	// or somebody else's immutable one has its name.
	ReasonPlanNotStored  = "PlanNotStored"
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
	// ReasonBudgetStoreLost: the store that budgets are drawn from does not answer.
	ReasonBudgetStoreLost = "BudgetStoreLost"
	// ReasonNoRoom: an account has more lanes, or bounds on what is borrowed, than can be kept.
	ReasonNoRoom = "NoRoom"
)

// Reasons of Throttled. Each has a fixed next step.
const (
	ReasonNotThrottled = "NotThrottled"
	ReasonPolicyLimit  = "PolicyLimit"
	// ReasonAccountShare says that calls wait for a limit of the account, which is shared with others.
	ReasonAccountShare  = "AccountShare"
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
	// EventGatewayNotStarted tells of a pod whose node cannot get the gateway's image.
	EventGatewayNotStarted = "GatewayNotStarted"
	EventCallTooLarge      = "CallTooLarge"
	EventStackedRetries    = "StackedRetries"
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
