// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
)

// Deferred bounds the calls that Defer takes in, in each gateway. They survive the gateway's restart and not
// the deletion of its pod, and no key is kept with them.
//
// +kubebuilder:validation:XValidation:rule="!has(self.maxAge) || (duration(self.maxAge) >= duration('1m') && duration(self.maxAge) <= duration('168h'))",message="maxAge must be from 1m to 168h"
type Deferred struct {
	// maxAge is how long a call is tried, and then how long its answer is kept, from 1m to 168h. Absent means
	// 24h.
	// +optional
	MaxAge Duration `json:"maxAge,omitempty"`

	// maxAttempts is the number of sends after which a call becomes a dead letter, from 1 to 100. Absent
	// means 10.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	// +optional
	MaxAttempts *int32 `json:"maxAttempts,omitempty"`

	// maxCalls is the number of calls that one gateway keeps, those with answers included, from 1 to 100000.
	// Absent means 1000.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	// +optional
	MaxCalls *int32 `json:"maxCalls,omitempty"`

	// maxBytes is how many bytes the calls and answers that one gateway keeps may have: a whole number such
	// as 64Mi, from 1Mi to 16Gi. Absent means 64Mi.
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 1048576 && self <= 17179869184 : isQuantity(self) && quantity(self).isInteger() && quantity(self).compareTo(quantity('1Mi')) >= 0 && quantity(self).compareTo(quantity('16Gi')) <= 0",message="must be a whole number from 1Mi to 16Gi, such as 64Mi"
	// +optional
	MaxBytes *resource.Quantity `json:"maxBytes,omitempty"`

	// callbackHosts are the hosts to which an answer may be delivered, over https alone, at most 16: DNS names
	// in lower case, without a scheme, a port or a path. A first part of * stands for exactly one part:
	// *.example.com is a.example.com, and neither a.b.example.com nor example.com. Absent means that answers are fetched only.
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:Pattern=`^(\*\.)?([a-z0-9]([-a-z0-9]*[a-z0-9])?\.)+[a-z]([-a-z0-9]*[a-z0-9])?$`
	// +optional
	CallbackHosts []string `json:"callbackHosts,omitempty"`
}
