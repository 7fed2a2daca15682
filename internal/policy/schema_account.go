// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/headgate-dev/headgate/api/v1alpha1"
)

func accountRefSchema(path *field.Path, ref *v1alpha1.AccountRef) field.ErrorList {
	if ref == nil {
		return nil
	}
	return shortName(path.Child("name"), ref.Name, routePattern)
}

// validateAccountSchema repeats the markers and CEL rules of api/v1alpha1.
func validateAccountSchema(a *v1alpha1.ProviderAccount) field.ErrorList {
	spec := field.NewPath("spec")
	errs := joinErrs(
		requiredEnum(spec.Child("dialect"), a.Spec.Dialect, dialects),
		limitsSchema(spec.Child("limits"), a.Spec.Limits),
		allowedSchema(spec.Child("allowedNamespaces"), a.Spec.AllowedNamespaces),
		tenantsSchema(spec.Child("tenants"), a.Spec.Tenants),
		between(spec.Child("maxGateways"), a.Spec.MaxGateways, 1, maxMaxGateways),
	)
	if utf8.RuneCountInString(a.Name) > maxNameLength || !routePattern.MatchString(a.Name) {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), a.Name, fmt.Sprintf(
			"at most %d characters, lower-case letters, digits and -, since the names of limits begin with it", maxNameLength)))
	}
	return errs
}

func allowedSchema(path *field.Path, a *v1alpha1.AllowedNamespaces) field.ErrorList {
	if a == nil {
		return nil
	}
	names := path.Child("names")
	errs := joinErrs(
		tooMany(names, len(a.Names), maxAllowedNames),
		duplicates(a.Names, func(s string) string { return s }, names.Index),
		selectorSchema(path.Child("selector"), (*v1alpha1.PodSelector)(a.Selector)),
	)
	for i, name := range a.Names {
		errs = append(errs, namespaceSchema(names.Index(i), name)...)
	}
	return errs
}

func tenantsSchema(path *field.Path, tenants []v1alpha1.Tenant) field.ErrorList {
	errs := joinErrs(
		tooMany(path, len(tenants), maxTenants),
		duplicates(tenants, func(t v1alpha1.Tenant) string { return t.Namespace }, path.Index),
	)
	sum := int64(0)
	for i := range tenants {
		t, at := &tenants[i], path.Index(i)
		errs = append(errs, joinErrs(
			namespaceSchema(at.Child("namespace"), t.Namespace),
			between(at.Child("guaranteedPercent"), t.GuaranteedPercent, 0, wholePercent),
			between(at.Child("lendablePercent"), t.LendablePercent, 0, wholePercent),
			between(at.Child("borrowingLimitPercent"), t.BorrowingLimitPercent, 0, wholePercent),
			between(at.Child("weight"), t.Weight, 1, maxWeight),
		)...)
		sum += int64(orDefault(t.GuaranteedPercent, 0))
	}
	if sum > wholePercent {
		errs = append(errs, field.Invalid(path, sum, "the tenants' guaranteedPercent add up to more than 100"))
	}
	return errs
}

func namespaceSchema(path *field.Path, name string) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "name a namespace")}
	}
	return text(path, name, 1, maxNamespaceLength, routePattern)
}
