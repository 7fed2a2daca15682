// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
)

// Provider is one LLM API and the rules for calls to it.
//
// +kubebuilder:validation:XValidation:rule="has(self.credentialKey) || !(has(self.deadline) && has(self.deadline.onExceeded) && self.deadline.onExceeded == 'Defer' || has(self.throttle) && has(self.throttle.onCeilingExceeded) && self.throttle.onCeilingExceeded == 'Defer')",message="Defer requires credentialKey: a call that is made later is never kept with its caller's key"
// +kubebuilder:validation:XValidation:rule="!has(self.deferred) || has(self.deadline) && has(self.deadline.onExceeded) && self.deadline.onExceeded == 'Defer' || has(self.throttle) && has(self.throttle.onCeilingExceeded) && self.throttle.onCeilingExceeded == 'Defer'",message="deferred says nothing unless deadline.onExceeded or throttle.onCeilingExceeded is Defer"
// +kubebuilder:validation:XValidation:rule="!has(self.throttle) || !has(self.throttle.failoverTo) || self.throttle.failoverTo != self.name",message="throttle.failoverTo must name another provider"
type Provider struct {
	// name is the route: apps call 127.0.0.1:15080/NAME. A provider named after a dialect in lower case
	// (openai, anthropic, groq) needs no dialect, and no baseURL where the dialect has one.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +required
	Name string `json:"name,omitempty"`

	// dialect names what the provider's API sends. Absent means the dialect that the provider's name means:
	// a dialect's name in lower case, or azure, azure-openai, google, vertex, vertex-ai, x-ai,
	// github-models, hugging-face, self-hosted, vllm, tgi or ollama; with any other name, Generic.
	// +optional
	Dialect Dialect `json:"dialect,omitempty"`

	// baseURL is where calls go: http or https, a host, an optional port and path, nothing else. Absent
	// means the dialect's own. It is required with AzureOpenAI (https://RESOURCE.openai.azure.com), VertexAI
	// (https://REGION-aiplatform.googleapis.com), Bedrock (https://bedrock-runtime.REGION.amazonaws.com),
	// SelfHosted (http://vllm.models.svc:8000) and Generic, which have none.
	// +kubebuilder:validation:MinLength=8
	// +kubebuilder:validation:MaxLength=2048
	// +optional
	BaseURL string `json:"baseURL,omitempty"`

	// mode overrides the policy's mode for this provider.
	// +optional
	Mode Mode `json:"mode,omitempty"`

	// credentialKey names a key of the namespace's Secret headgate-credentials, which the gateway sends
	// to the hosts listed beside it. Absent means that the app's own header passes through.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +optional
	CredentialKey string `json:"credentialKey,omitempty"`

	// accountRef names the ProviderAccount that the calls draw on. Its limits hold beside those of this policy,
	// shared with the other namespaces that refer to it; together there are at most 16. It must speak this
	// provider's dialect and allow this namespace. Absent means that the policy shares nothing with others.
	// +optional
	AccountRef *AccountRef `json:"accountRef,omitempty"`

	// outage is what a gateway does that hears from no coordinator. Safe keeps to half of each limit divided by
	// maxGateways. LastGrant goes on at the rate that it was told last. Open holds calls to what the provider itself
	// reports. Whatever was used above the limits is made up for afterwards, so that nothing bursts. Absent
	// means Safe.
	// +optional
	Outage Outage `json:"outage,omitempty"`

	// limits are this policy's allowances, by name, at most 16. A call is charged to every limit it
	// matches. Absent means that only what the provider itself reports is obeyed, and what the account allows.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Limits []Limit `json:"limits,omitempty"`

	// deadline bounds the time from a call's arrival to its first content byte.
	// +optional
	Deadline *Deadline `json:"deadline,omitempty"`

	// deferred bounds the calls that Defer takes in, to be made later without their callers.
	// +optional
	Deferred *Deferred `json:"deferred,omitempty"`

	// throttle says what to do with a refusal (429) that states a wait.
	// +optional
	Throttle *Throttle `json:"throttle,omitempty"`

	// unguided says what to do with a refusal (429) that states no wait.
	// +optional
	Unguided *Unguided `json:"unguided,omitempty"`

	// overload says what to do when the provider is overloaded (529, 503).
	// +optional
	Overload *Overload `json:"overload,omitempty"`

	// lanes divide the limits among kinds of calls, by name, at most 8. The first lane whose match holds
	// takes the call; an implicit lane named default is last.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:XValidation:rule="self.filter(l, has(l.reservedPercent)).map(l, l.reservedPercent).sum() <= 100",message="the lanes' reservedPercent add up to more than 100"
	// +optional
	Lanes []Lane `json:"lanes,omitempty"`
}

// AccountRef names a ProviderAccount.
type AccountRef struct {
	// name is the ProviderAccount's.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +required
	Name string `json:"name,omitempty"`
}

// Outage says what a gateway does that hears from no coordinator.
//
// +kubebuilder:validation:Enum=Safe;LastGrant;Open
type Outage string

// What a gateway does that hears from no coordinator.
const (
	// OutageSafe keeps to half of each limit divided by maxGateways.
	OutageSafe Outage = "Safe"
	// OutageLastGrant goes on at the rate that was granted last.
	OutageLastGrant Outage = "LastGrant"
	// OutageOpen leaves the limits to the provider's own.
	OutageOpen Outage = "Open"
)

// Budget is what a limit counts.
//
// +kubebuilder:validation:Enum=Requests;Tokens;InputTokens;OutputTokens;InFlight
type Budget string

// The budgets.
const (
	BudgetRequests     Budget = "Requests"
	BudgetTokens       Budget = "Tokens"
	BudgetInputTokens  Budget = "InputTokens"
	BudgetOutputTokens Budget = "OutputTokens"
	BudgetInFlight     Budget = "InFlight"
)

// Window is the time in which an amount refills.
//
// +kubebuilder:validation:Enum=Second;Minute;Hour;Day
type Window string

// The windows.
const (
	WindowSecond Window = "Second"
	WindowMinute Window = "Minute"
	WindowHour   Window = "Hour"
	WindowDay    Window = "Day"
)

// Limit is one allowance.
//
// +kubebuilder:validation:XValidation:rule="self.budget == 'InFlight' ? !has(self.per) : has(self.per)",message="per is required, except with budget InFlight, where it is forbidden"
// +kubebuilder:validation:XValidation:rule="self.budget != 'InFlight' || !has(self.burst)",message="burst is forbidden with budget InFlight"
type Limit struct {
	// name appears in status, metrics and refusals.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	// +required
	Name string `json:"name,omitempty"`

	// budget is what is counted: Requests, Tokens (input and output together), InputTokens, OutputTokens,
	// or InFlight (calls at once).
	// +required
	Budget Budget `json:"budget,omitempty"`

	// amount is what refills within per, or the number of calls at once: a whole number such as 400k.
	// 0 means that nothing passes.
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 0 && self <= 1000000000000 : isQuantity(self) && quantity(self).isInteger() && quantity(self).compareTo(quantity('0')) >= 0 && quantity(self).compareTo(quantity('1T')) <= 0",message="must be a whole number from 0 to 1T, such as 400k"
	// +required
	Amount resource.Quantity `json:"amount"`

	// per is the time in which amount refills, continuously: Second, Minute, Hour or Day.
	// +optional
	Per Window `json:"per,omitempty"`

	// burst is the most that can be used at once after a pause: a whole number. Absent means amount. 0
	// means that nothing passes.
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 0 && self <= 1000000000000 : isQuantity(self) && quantity(self).isInteger() && quantity(self).compareTo(quantity('0')) >= 0 && quantity(self).compareTo(quantity('1T')) <= 0",message="must be a whole number from 0 to 1T, such as 400k"
	// +optional
	Burst *resource.Quantity `json:"burst,omitempty"`

	// models are globs (* matches any run of characters) of the model names the limit counts, at most 16.
	// Absent means every model.
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=128
	// +optional
	Models []string `json:"models,omitempty"`
}
