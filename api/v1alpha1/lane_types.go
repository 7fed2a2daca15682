// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
)

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

	// priority orders the lanes where they take what others leave, and where queues are full: a higher one
	// goes first, and the lowest is refused first. From -1000 to 1000. It never touches what another lane is
	// sure of. Absent means 0.
	// +kubebuilder:validation:Minimum=-1000
	// +kubebuilder:validation:Maximum=1000
	// +optional
	Priority *int32 `json:"priority,omitempty"`

	// weight divides what is left among lanes of one priority, in proportion, from 1 to 100. Absent means 1.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	// +optional
	Weight *int32 `json:"weight,omitempty"`

	// hold is how much of its own rate an idle lane keeps for its next call, as the time in which it earns
	// that much: 10s of 40k per minute are 6.7k. It never exceeds the lane's share of the burst. 0s keeps
	// nothing. Absent means 10s, and at most half of the share of the burst.
	// +optional
	Hold Duration `json:"hold,omitempty"`

	// queue bounds the calls that wait.
	// +optional
	Queue *LaneQueue `json:"queue,omitempty"`

	// credentialKey names a key of the namespace's Secret headgate-credentials that the lane's calls are sent
	// with, such as that of an account for batches. Absent means the provider's credentialKey.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +optional
	CredentialKey string `json:"credentialKey,omitempty"`
}

// LaneMatch says which calls take a lane: those for which all that is stated holds.
type LaneMatch struct {
	// minInputTokens matches calls whose estimated input is at least this many tokens; a whole number such
	// as 20k. Absent matches any size.
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 0 && self <= 1000000000000 : isQuantity(self) && quantity(self).isInteger() && quantity(self).compareTo(quantity('0')) >= 0 && quantity(self).compareTo(quantity('1T')) <= 0",message="must be a whole number from 0 to 1T, such as 20k"
	// +optional
	MinInputTokens *resource.Quantity `json:"minInputTokens,omitempty"`

	// header matches calls that carry a request header. Apps choose their headers themselves: match one only
	// where every app of the policy may take the lane.
	// +optional
	Header *HeaderMatch `json:"header,omitempty"`

	// models are globs (* matches any run of characters), at most 16, one of which the model's name must
	// match. Absent matches every model.
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=128
	// +optional
	Models []string `json:"models,omitempty"`

	// paths are globs (* matches any run of characters), at most 16, one of which the request's path after
	// the provider's name must match, such as /v1/embeddings. Absent matches every path.
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	// +kubebuilder:validation:items:Pattern=`^[/*]`
	// +optional
	Paths []string `json:"paths,omitempty"`
}

// HeaderMatch matches a request header.
type HeaderMatch struct {
	// name is the header's, in any case. Headers that carry keys, and those that belong to one connection,
	// cannot be matched.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9]([-_A-Za-z0-9]*[A-Za-z0-9])?$`
	// +required
	Name string `json:"name,omitempty"`

	// value is the header's whole value, in this case. Absent matches every value.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:Pattern=`^[!-~]([ -~]*[!-~])?$`
	// +optional
	Value string `json:"value,omitempty"`
}

// LaneQueue bounds the calls that wait in a lane.
type LaneQueue struct {
	// maxDepth is the number of calls that may wait, from 0 (refuse rather than wait) to 10000. Absent
	// means 256.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	// +optional
	MaxDepth *int32 `json:"maxDepth,omitempty"`

	// maxBytes is how many bytes the bodies of the calls that wait may have together: a whole number such as
	// 32Mi. Absent means that maxDepth alone counts.
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 1 && self <= 1000000000000 : isQuantity(self) && quantity(self).isInteger() && quantity(self).compareTo(quantity('1')) >= 0 && quantity(self).compareTo(quantity('1T')) <= 0",message="must be a whole number from 1 to 1T, such as 32Mi"
	// +optional
	MaxBytes *resource.Quantity `json:"maxBytes,omitempty"`

	// maxWait is the longest a call may wait. Absent means 50s.
	// +optional
	MaxWait Duration `json:"maxWait,omitempty"`

	// keepAlive is what the client of a stream of server-sent events hears while its call waits. None is
	// nothing, so that a call that is refused in the end has its status. With Pings it has status 200 and a
	// comment 10s after the call came, or as soon as it waits after that, and another every 10s; what fails
	// after that is an error event of the provider's shape in the stream, and the provider's headers are
	// lost. Other calls wait in silence, and what is refused at once has its status, always. Absent means
	// None.
	// +optional
	KeepAlive KeepAlive `json:"keepAlive,omitempty"`
}

// KeepAlive is what the client of a stream hears while its call waits.
//
// +kubebuilder:validation:Enum=None;Pings
type KeepAlive string

// What the client of a stream hears while its call waits.
const (
	// KeepAliveNone is nothing.
	KeepAliveNone KeepAlive = "None"
	// KeepAlivePings is a comment in the stream, every 10 seconds.
	KeepAlivePings KeepAlive = "Pings"
)
