// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ProviderAccountStatus is what gateways and the provider report. Figures are rounded and rewritten on material
// change only, at most every 30s; exact ones are in the metrics.
type ProviderAccountStatus struct {
	// conditions are Accepted, LimitsMatch, Oversubscribed and Degraded, all present, in this order.
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// limits are the figures of the account's limits, declared or learned.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Limits []AccountLimitStatus `json:"limits,omitempty"`

	// namespaces are those that use the account, the 20 that use most of it.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=20
	// +optional
	Namespaces []AccountNamespaceStatus `json:"namespaces,omitempty"`

	// observedGeneration is the generation of the spec that this status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// summary is the verdict and the next step.
	// +optional
	Summary AccountSummary `json:"summary,omitempty,omitzero"`
}

// LimitSource says where a limit is from.
//
// +kubebuilder:validation:Enum=Declared;Learned
type LimitSource string

// The sources of limits.
const (
	LimitDeclared LimitSource = "Declared"
	LimitLearned  LimitSource = "Learned"
)

// AccountLimitStatus is one limit's figures, of all namespaces together. Amounts are per window unless they say
// remaining.
type AccountLimitStatus struct {
	// name is the limit's.
	// +kubebuilder:validation:MaxLength=40
	// +required
	Name string `json:"name,omitempty"`
	// offered is what the apps asked for.
	// +optional
	Offered Amount `json:"offered,omitempty"`
	// per is the window.
	// +optional
	Per Window `json:"per,omitempty"`
	// remaining is what could be granted now.
	// +optional
	Remaining Amount `json:"remaining,omitempty"`
	// remainingAtProvider is what the provider last said it has left.
	// +optional
	RemainingAtProvider Amount `json:"remainingAtProvider,omitempty"`
	// resetIn is when what the provider has left is its whole limit again, if nothing more is used.
	// +optional
	ResetIn Wait `json:"resetIn,omitempty"`
	// source is Declared or Learned.
	// +optional
	Source LimitSource `json:"source,omitempty"`
	// state is Binding (calls wait for it), Near or Free.
	// +optional
	State LimitState `json:"state,omitempty"`
	// total is the amount that is divided.
	// +optional
	Total Amount `json:"total,omitempty"`
	// totalAtProvider is the limit the provider states.
	// +optional
	TotalAtProvider Amount `json:"totalAtProvider,omitempty"`
	// used is what was used.
	// +optional
	Used Amount `json:"used,omitempty"`
	// value is the amount of a learned limit, exactly: what is in force until the provider states another.
	// +optional
	Value int64 `json:"value,omitempty"`
}

// AccountNamespaceStatus is one namespace's part of the account. Parts are of the limit of which it uses most.
type AccountNamespaceStatus struct {
	// name is the namespace.
	// +kubebuilder:validation:MaxLength=63
	// +required
	Name string `json:"name,omitempty"`
	// share is what is guaranteed to it.
	// +optional
	Share Percent `json:"share,omitempty"`
	// unusedLent is the part of what is guaranteed to it that others use.
	// +optional
	UnusedLent Percent `json:"unusedLent,omitempty"`
	// used is its part of the account.
	// +optional
	Used Percent `json:"used,omitempty"`
	// usedBorrowed is the part of used beyond what is guaranteed to it.
	// +optional
	UsedBorrowed Percent `json:"usedBorrowed,omitempty"`
	// waiting is what its calls wait for, of the limit of which they want most.
	// +optional
	Waiting Amount `json:"waiting,omitempty"`
}

// AccountSummary is the verdict, for the columns of kubectl get and the end of kubectl describe.
type AccountSummary struct {
	// busiestLimit is the limit of which most is used, or -.
	// +kubebuilder:validation:MaxLength=40
	// +optional
	BusiestLimit string `json:"busiestLimit,omitempty"`
	// figuresAt is when the figures were taken.
	// +optional
	FiguresAt *metav1.Time `json:"figuresAt,omitempty"`
	// gateways hold a part of the account, or may.
	// +optional
	Gateways int32 `json:"gateways"`
	// namespaces have policies that refer to the account and may.
	// +optional
	Namespaces int32 `json:"namespaces"`
	// nextStep says what to do, if anything.
	// +kubebuilder:validation:MaxLength=512
	// +optional
	NextStep string `json:"nextStep,omitempty"`
	// tooManyRequests is the share of sends the provider answered 429.
	// +optional
	TooManyRequests Percent `json:"tooManyRequests,omitempty"`
	// used is the part of the busiest limit that is used.
	// +optional
	Used Percent `json:"used,omitempty"`
	// waiting is how many namespaces have calls that wait for the account.
	// +optional
	Waiting int32 `json:"waiting"`
}
