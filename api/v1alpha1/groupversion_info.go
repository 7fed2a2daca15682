// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the API group and version of this package's types.
var GroupVersion = schema.GroupVersion{Group: "headgate.dev", Version: "v1alpha1"}

// AddToScheme registers this package's types.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &RateLimitPolicy{}, &RateLimitPolicyList{}, &ProviderAccount{}, &ProviderAccountList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
