// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/plan"
)

// AccountWarnings says what is legal in an account and probably not meant. It is empty for one that ValidateAccount
// refuses.
func AccountWarnings(a *v1alpha1.ProviderAccount) []string {
	if len(ValidateAccount(a)) > 0 {
		return nil
	}
	var out []string
	spec := field.NewPath("spec")
	warn := func(path *field.Path, format string, args ...any) {
		out = append(out, path.String()+": "+fmt.Sprintf(format, args...))
	}
	if allowed := a.Spec.AllowedNamespaces; allowed == nil || len(allowed.Names) == 0 && allowed.Selector == nil {
		warn(spec.Child("allowedNamespaces"), "no namespace may refer to the account: name some, or select them by label")
	}
	if len(a.Spec.Limits) == 0 && slices.ContainsFunc(a.Spec.Tenants, func(t v1alpha1.Tenant) bool { return orDefault(t.GuaranteedPercent, 0) > 0 }) {
		warn(spec.Child("limits"), "without limits they are learned from what the gateways of all namespaces say, so that each namespace "+
			"can change what others are guaranteed: declare them unless all of these trust each other")
	}
	facts := dialectOf(&v1alpha1.Provider{Dialect: a.Spec.Dialect})
	for i, limit := range compileLimits(a.Spec.Limits) {
		at := spec.Child("limits").Index(i)
		switch {
		case limit.Amount == 0 || limit.Burst == 0:
			warn(at, "0 lets no call of any namespace pass: remove the limit if that is not meant")
		case limit.Budget == plan.Tokens && facts.TokensApart:
			warn(at.Child("budget"), "%s limits input and output tokens apart, so that a limit of their sum matches none of its own: "+
				"use InputTokens and OutputTokens unless that is meant", facts.Name)
		}
	}
	for i := range a.Spec.Tenants {
		tenantWarnings(spec.Child("tenants").Index(i), &a.Spec.Tenants[i], a.Spec.AllowedNamespaces, warn)
	}
	return out
}

func tenantWarnings(path *field.Path, t *v1alpha1.Tenant, allowed *v1alpha1.AllowedNamespaces, warn func(*field.Path, string, ...any)) {
	guaranteed, borrows := orDefault(t.GuaranteedPercent, 0), orDefault(t.BorrowingLimitPercent, wholePercent)
	switch {
	case guaranteed == 0 && borrows == 0:
		warn(path, "namespace %s is guaranteed nothing and may borrow nothing, so none of its calls goes: raise one of them", t.Namespace)
	case guaranteed == 0 && t.LendablePercent != nil:
		warn(path.Child("lendablePercent"), "namespace %s is guaranteed nothing, so it has nothing to lend: state guaranteedPercent too", t.Namespace)
	}
	if allowed != nil && allowed.Selector == nil && !slices.Contains(allowed.Names, t.Namespace) {
		warn(path.Child("namespace"), "namespace %s is not allowed to use the account, so its part is lent for ever: "+
			"list it in allowedNamespaces, or remove it here", t.Namespace)
	}
}
