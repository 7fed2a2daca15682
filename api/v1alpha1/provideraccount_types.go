// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ProviderAccount is what a provider sold: limits that policies of several namespaces draw on, and how these
// share them.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=provideraccounts,singular=provideraccount,shortName=pacct,categories=headgate,scope=Cluster
// +kubebuilder:printcolumn:name="Dialect",type=string,JSONPath=`.spec.dialect`
// +kubebuilder:printcolumn:name="Accepted",type=string,JSONPath=`.status.conditions[?(@.type=="Accepted")].status`
// +kubebuilder:printcolumn:name="Namespaces",type=string,JSONPath=`.status.summary.namespaces`
// +kubebuilder:printcolumn:name="Gateways",type=string,JSONPath=`.status.summary.gateways`
// +kubebuilder:printcolumn:name="Busiest",type=string,JSONPath=`.status.summary.busiestLimit`
// +kubebuilder:printcolumn:name="Used",type=string,JSONPath=`.status.summary.used`
// +kubebuilder:printcolumn:name="Waiting",type=string,JSONPath=`.status.summary.waiting`
// +kubebuilder:printcolumn:name="429s",type=string,JSONPath=`.status.summary.tooManyRequests`
// +kubebuilder:printcolumn:name="Degraded",type=string,JSONPath=`.status.conditions[?(@.type=="Degraded")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Limits-Match",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="LimitsMatch")].reason`
// +kubebuilder:printcolumn:name="Oversubscribed",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Oversubscribed")].status`
// +kubebuilder:printcolumn:name="Next-Step",type=string,priority=1,JSONPath=`.status.summary.nextStep`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 40 && self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name: at most 40 characters, lower-case letters, digits and -, since the names of limits begin with it"
type ProviderAccount struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object's metadata. Its name begins the names of the account's limits in policies'
	// status, metrics and refusals.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec is what the provider sold, and who may use it.
	// +required
	Spec ProviderAccountSpec `json:"spec,omitempty,omitzero"`

	// status is what gateways and the provider report, rounded.
	// +optional
	Status ProviderAccountStatus `json:"status,omitempty,omitzero"`
}

// ProviderAccountList is a list of accounts.
//
// +kubebuilder:object:root=true
type ProviderAccountList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ProviderAccount `json:"items"`
}

// ProviderAccountSpec is what the provider sold, and who may use it.
type ProviderAccountSpec struct {
	// dialect names what the provider's API sends. Policies that refer to the account must speak it. It cannot be
	// changed.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="the dialect of an account cannot be changed: make another account"
	// +required
	Dialect Dialect `json:"dialect,omitempty"`

	// limits are what the provider allows the account, by name, at most 16; all namespaces together keep to them.
	// Absent means that they are learned from the provider's answers, once two have told them; until then calls
	// are held to what each gateway is told itself.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Limits []Limit `json:"limits,omitempty"`

	// allowedNamespaces are those whose policies may refer to the account. Absent means none.
	// +optional
	AllowedNamespaces *AllowedNamespaces `json:"allowedNamespaces,omitempty"`

	// tenants are namespaces of which something is said: what they are guaranteed, lend and may borrow; at most
	// 128. Others that are allowed have no guarantee and borrow with weight 1. Those that borrow share what is
	// left evenly by weight, in tokens, up to what each asks for.
	// +listType=map
	// +listMapKey=namespace
	// +kubebuilder:validation:MaxItems=128
	// +kubebuilder:validation:XValidation:rule="self.filter(t, has(t.guaranteedPercent)).map(t, t.guaranteedPercent).sum() <= 100",message="the tenants' guaranteedPercent add up to more than 100"
	// +optional
	Tenants []Tenant `json:"tenants,omitempty"`

	// maxGateways is the largest number of pods of all namespaces that are expected to use the account at once,
	// from 1 to 10000. It bounds what a gateway takes that has lost contact. Absent means the sum of what the
	// policies that refer to it say or are seen to have, at least 4.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	// +optional
	MaxGateways *int32 `json:"maxGateways,omitempty"`
}

// AllowedNamespaces lists namespaces: those that are named, and those whose labels match.
type AllowedNamespaces struct {
	// names are namespaces, at most 256.
	// +listType=set
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +optional
	Names []string `json:"names,omitempty"`

	// selector chooses namespaces by label, beside those named. Absent chooses none, {} all.
	// +optional
	Selector *NamespaceSelector `json:"selector,omitempty"`
}

// NamespaceSelector chooses namespaces by label; all of its terms must hold.
type NamespaceSelector struct {
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

// Tenant is what a namespace has of an account. The words are those of Kueue (nominal quota, lendingLimit,
// borrowingLimit) and of API Priority and Fairness (lendablePercent, borrowingLimitPercent).
type Tenant struct {
	// namespace is the tenant.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +required
	Namespace string `json:"namespace,omitempty"`

	// guaranteedPercent is the part of every limit that the namespace is sure of whatever the others do, from 0
	// to 100; what it lends comes back within moments of its asking. Absent means 0.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +optional
	GuaranteedPercent *int32 `json:"guaranteedPercent,omitempty"`

	// lendablePercent is the part of what is guaranteed that others may use while the namespace does not, from 0
	// to 100. Absent means 100.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +optional
	LendablePercent *int32 `json:"lendablePercent,omitempty"`

	// borrowingLimitPercent is the most that the namespace may use beyond what it is guaranteed, as a part of the
	// account's limits, from 0 to 100. Absent means no bound but the account's.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +optional
	BorrowingLimitPercent *int32 `json:"borrowingLimitPercent,omitempty"`

	// weight divides what is left among the namespaces that borrow, in proportion, from 1 to 100. Absent means 1.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	// +optional
	Weight *int32 `json:"weight,omitempty"`
}
