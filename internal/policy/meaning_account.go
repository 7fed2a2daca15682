// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/plan"
)

// Accounts are the names that a policy's providers refer to, each once, in their order.
func Accounts(p *v1alpha1.RateLimitPolicy) []string {
	var out []string
	seen := map[string]bool{}
	for i := range p.Spec.Providers {
		if name := accountRef(&p.Spec.Providers[i]); name != "" && !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	return out
}

// ValidateAccounts says what is wrong with a policy's references to accounts, and in reason the worst of it: that an
// account does not allow the namespace, that there is none of that name, or that the two do not go together. It relies on
// Validate, and tells of an account no more than its name, its dialect and its limits: nothing of other namespaces.
func ValidateAccounts(p *v1alpha1.RateLimitPolicy, accounts map[string]Account) (errs field.ErrorList, reason string) {
	providers := field.NewPath("spec", "providers")
	for i := range p.Spec.Providers {
		provider := &p.Spec.Providers[i]
		name := accountRef(provider)
		if name == "" {
			continue
		}
		at := providers.Index(i)
		account, found := accounts[name]
		switch {
		case !found:
			errs = append(errs, field.Invalid(at.Child("accountRef", "name"), name,
				"there is no ProviderAccount of that name, or it is not accepted: create it first, or correct the name"))
			reason = worse(reason, v1alpha1.ReasonAccountNotFound)
		case !account.Allowed:
			errs = append(errs, field.Forbidden(at.Child("accountRef", "name"), fmt.Sprintf(
				"ProviderAccount %s does not allow this namespace: its allowedNamespaces must list it, which is the platform team's to do", name)))
			reason = worse(reason, v1alpha1.ReasonAccountNotAllowed)
		default:
			if unfit := account.fits(at, provider); len(unfit) > 0 {
				errs = append(errs, unfit...)
				reason = worse(reason, v1alpha1.ReasonInvalid)
			}
		}
	}
	return errs, reason
}

// worse orders the reasons: what does not go together keeps the whole spec out of force, and is told first.
func worse(a, b string) string {
	for _, reason := range []string{v1alpha1.ReasonInvalid, v1alpha1.ReasonAccountNotAllowed} {
		if a == reason || b == reason {
			return reason
		}
	}
	return b
}

// fits says whether a provider and its account go together.
func (a Account) fits(path *field.Path, p *v1alpha1.Provider) field.ErrorList {
	at := path.Child("accountRef", "name")
	if ours := dialectOf(p).Name; ours != a.Dialect {
		return field.ErrorList{field.Invalid(at, a.Name, fmt.Sprintf(
			"the account speaks dialect %s and this provider %s: name an account of the same dialect, or state dialect: %s", a.Dialect, ours, a.Dialect))}
	}
	limits := a.routeLimits()
	if all := len(p.Limits) + len(limits); all > plan.MaxLimits {
		return field.ErrorList{field.Invalid(at, a.Name, fmt.Sprintf(
			"with its %d limits and the %d here a call would be charged to %d, more than %d: remove some", len(limits), len(p.Limits), all, plan.MaxLimits))}
	}
	return fitLanes(path.Child("lanes"), p.Lanes, limits)
}

// fitLanes refuses lanes of which no call ever fits the account.
func fitLanes(path *field.Path, lanes []v1alpha1.Lane, limits []plan.Limit) field.ErrorList {
	var errs field.ErrorList
	for i := range lanes {
		lane := compileLane(&lanes[i])
		for _, limit := range limits {
			if !countsInput(limit) || len(limit.Models) > 0 || limit.Burst == 0 || lane.MinInputTokens <= limit.Burst {
				continue
			}
			errs = append(errs, field.Invalid(path.Index(i).Child("match", "minInputTokens"), quantityText(lane.MinInputTokens), fmt.Sprintf(
				"no call of this lane ever fits limit %s (burst %s): lower it", limit.Name, quantityText(limit.Burst))))
		}
	}
	return errs
}

// ValidateAccount says everything that is wrong with an account: the rules of the CRD's schema and, if they hold, the
// rules of meaning.
func ValidateAccount(a *v1alpha1.ProviderAccount) field.ErrorList {
	if errs := validateAccountSchema(a); len(errs) > 0 {
		return errs
	}
	spec := field.NewPath("spec")
	var errs field.ErrorList
	facts := dialectOf(&v1alpha1.Provider{Dialect: a.Spec.Dialect})
	for i, limit := range compileLimits(a.Spec.Limits) {
		errs = append(errs, limitMeaning(spec.Child("limits").Index(i), limit, facts)...)
	}
	if allowed := a.Spec.AllowedNamespaces; allowed != nil {
		errs = append(errs, selectorMeaning(spec.Child("allowedNamespaces", "selector"), (*v1alpha1.PodSelector)(allowed.Selector))...)
	}
	return errs
}
