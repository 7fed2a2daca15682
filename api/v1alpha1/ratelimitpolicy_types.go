// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RateLimitPolicy says how the pods of its namespace share an LLM provider's allowance: which limits
// hold, how long a call may wait, and which calls have a reserved lane.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=ratelimitpolicies,singular=ratelimitpolicy,shortName=hgp,categories=headgate
// +kubebuilder:printcolumn:name="Mode",type=string,JSONPath=`.status.summary.mode`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Pods",type=string,JSONPath=`.status.summary.pods`
// +kubebuilder:printcolumn:name="Throttled",type=string,JSONPath=`.status.conditions[?(@.type=="Throttled")].status`
// +kubebuilder:printcolumn:name="Limited-By",type=string,JSONPath=`.status.summary.bindingLimit`
// +kubebuilder:printcolumn:name="Wait",type=string,JSONPath=`.status.summary.wait`
// +kubebuilder:printcolumn:name="Refused",type=string,JSONPath=`.status.summary.refusedByPolicy`
// +kubebuilder:printcolumn:name="429s",type=string,JSONPath=`.status.summary.tooManyRequests`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Providers",type=string,priority=1,JSONPath=`.status.summary.providers`
// +kubebuilder:printcolumn:name="Why",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Throttled")].message`
type RateLimitPolicy struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec is what the platform team asks for.
	// +required
	Spec RateLimitPolicySpec `json:"spec,omitempty,omitzero"`

	// status is what the gateways of the namespace report, rounded.
	// +optional
	Status RateLimitPolicyStatus `json:"status,omitempty,omitzero"`
}

// RateLimitPolicyList is a list of policies.
//
// +kubebuilder:object:root=true
type RateLimitPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []RateLimitPolicy `json:"items"`
}

// Mode says what the gateway does with its decisions.
//
// +kubebuilder:validation:Enum=Enforce;Observe
type Mode string

// The modes.
const (
	ModeEnforce Mode = "Enforce"
	ModeObserve Mode = "Observe"
)

// RateLimitPolicySpec is the desired behaviour.
type RateLimitPolicySpec struct {
	// mode is Enforce or Observe. Observe decides and reports and never delays or refuses a call.
	// Absent means Enforce. A provider may state its own.
	// +optional
	Mode Mode `json:"mode,omitempty"`

	// podSelector chooses the injected pods of the namespace that this policy governs. Empty or absent
	// means all of them. Of two policies that match a pod, the one with a non-empty selector wins, then
	// the older, then the one whose name sorts first; the loser carries the condition reason Overridden.
	// +optional
	PodSelector *PodSelector `json:"podSelector,omitempty"`

	// maxGateways is the largest number of pods expected to use this policy at once, from 1 to 10000. It
	// bounds what a gateway takes that has lost contact. Absent means twice the pods seen, at least 4.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	// +optional
	MaxGateways *int32 `json:"maxGateways,omitempty"`

	// providers are the LLM providers governed, by name, from 1 to 16.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +required
	Providers []Provider `json:"providers,omitempty"`
}

// PodSelector chooses pods by label; all of its terms must hold.
type PodSelector struct {
	// matchLabels are label values that must be equal, at most 16.
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.size() > 0 && k.size() <= 317 && self[k].size() <= 63)",message="a label key has 1 to 317 characters and a value at most 63"
	// +optional
	MatchLabels map[string]string `json:"matchLabels,omitempty"`

	// matchExpressions are label requirements, at most 16.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +optional
	MatchExpressions []PodSelectorTerm `json:"matchExpressions,omitempty"`
}

// SelectorOperator relates a label to values.
//
// +kubebuilder:validation:Enum=In;NotIn;Exists;DoesNotExist
type SelectorOperator string

// The selector operators.
const (
	SelectorIn           SelectorOperator = "In"
	SelectorNotIn        SelectorOperator = "NotIn"
	SelectorExists       SelectorOperator = "Exists"
	SelectorDoesNotExist SelectorOperator = "DoesNotExist"
)

// PodSelectorTerm is one requirement on a label.
//
// +kubebuilder:validation:XValidation:rule="self.operator in ['In', 'NotIn'] ? has(self.values) && self.values.size() > 0 : !has(self.values) || self.values.size() == 0",message="values are required with In and NotIn, and forbidden with Exists and DoesNotExist"
type PodSelectorTerm struct {
	// key is the label's key.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +required
	Key string `json:"key,omitempty"`

	// operator is In, NotIn, Exists or DoesNotExist.
	// +required
	Operator SelectorOperator `json:"operator,omitempty"`

	// values are what In and NotIn compare with, at most 32.
	// +listType=set
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=63
	// +optional
	Values []string `json:"values,omitempty"`
}
