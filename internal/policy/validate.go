// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/headgate-dev/headgate/api/v1alpha1"
)

// Validate says everything that is wrong with a policy: the rules of the CRD's schema and, if they hold,
// the rules of meaning. Each message says what to do.
func Validate(p *v1alpha1.RateLimitPolicy) field.ErrorList {
	if errs := validateSchema(p); len(errs) > 0 {
		return errs
	}
	return validateMeaning(p)
}

// validateSchema repeats the markers and CEL rules of api/v1alpha1.
func validateSchema(p *v1alpha1.RateLimitPolicy) field.ErrorList {
	spec := field.NewPath("spec")
	return joinErrs(
		enum(spec.Child("mode"), p.Spec.Mode, modes),
		selectorSchema(spec.Child("podSelector"), p.Spec.PodSelector),
		between(spec.Child("maxGateways"), p.Spec.MaxGateways, 1, maxMaxGateways),
		providersSchema(spec.Child("providers"), p.Spec.Providers),
	)
}

// validateMeaning holds the rules that a schema cannot.
func validateMeaning(p *v1alpha1.RateLimitPolicy) field.ErrorList {
	spec := field.NewPath("spec")
	errs := selectorMeaning(spec.Child("podSelector"), p.Spec.PodSelector)
	providers := spec.Child("providers")
	for i := range p.Spec.Providers {
		errs = append(errs, providerMeaning(providers.Index(i), &p.Spec.Providers[i])...)
	}
	errs = append(errs, failoverMeaning(providers, p.Spec.Providers)...)
	return append(errs, ambiguousRoutes(providers, p.Spec.Providers)...)
}

func joinErrs(lists ...field.ErrorList) field.ErrorList {
	var all field.ErrorList
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}
