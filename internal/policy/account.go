// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/plan"
)

// Account is a ProviderAccount as one namespace sees it.
type Account struct {
	Name    string
	Dialect string
	// Limits are what the account has, declared or learned, with the names they have there; none while they are to be
	// learned.
	Limits []plan.Limit
	// Learned says that they are the provider's own words.
	Learned bool
	// MaxGateways bounds the safe share, over all namespaces; 0 takes the policy's.
	MaxGateways int32
	// Allowed says that the account's allowedNamespaces list the namespace.
	Allowed bool
	// Tenant is what the account says of the namespace.
	Tenant Tenant
}

// Tenant is a namespace's part of an account, with defaults resolved.
type Tenant struct {
	Namespace             string
	GuaranteedPercent     int32
	LendablePercent       *int32
	BorrowingLimitPercent *int32
	Weight                int32
}

// AccountFor resolves an account for a namespace. It relies on ValidateAccount.
func AccountFor(a *v1alpha1.ProviderAccount, namespace string, labels map[string]string) Account {
	out := Account{
		Name: a.Name, Dialect: string(a.Spec.Dialect), Limits: AccountLimits(a), Learned: len(a.Spec.Limits) == 0,
		MaxGateways: orDefault(a.Spec.MaxGateways, 0), Allowed: Allows(a, namespace, labels),
		Tenant: Tenant{Namespace: namespace, Weight: 1},
	}
	for _, t := range Tenants(a) {
		if t.Namespace == namespace {
			out.Tenant = t
		}
	}
	return out
}

// Allows says whether the account's allowedNamespaces list a namespace.
func Allows(a *v1alpha1.ProviderAccount, namespace string, labels map[string]string) bool {
	allowed := a.Spec.AllowedNamespaces
	if allowed == nil {
		return false
	}
	for _, name := range allowed.Names {
		if name == namespace {
			return true
		}
	}
	if allowed.Selector == nil {
		return false
	}
	chosen := plan.Policy{Selector: Terms((*v1alpha1.PodSelector)(allowed.Selector))}
	return chosen.Selects(labels)
}

// Tenants are all namespaces of which the account says something, in its order.
func Tenants(a *v1alpha1.ProviderAccount) []Tenant {
	out := make([]Tenant, 0, len(a.Spec.Tenants))
	for i := range a.Spec.Tenants {
		t := &a.Spec.Tenants[i]
		out = append(out, Tenant{
			Namespace: t.Namespace, GuaranteedPercent: orDefault(t.GuaranteedPercent, 0),
			LendablePercent: t.LendablePercent, BorrowingLimitPercent: t.BorrowingLimitPercent, Weight: orDefault(t.Weight, 1),
		})
	}
	return out
}

// AccountLimits are what the account has: what is declared, else what was learned of the provider and is kept in its
// status, else none.
func AccountLimits(a *v1alpha1.ProviderAccount) []plan.Limit {
	if len(a.Spec.Limits) > 0 {
		return compileLimits(a.Spec.Limits)
	}
	var out []plan.Limit
	for _, l := range Watched(string(a.Spec.Dialect)) {
		for i := range a.Status.Limits {
			s := &a.Status.Limits[i]
			if s.Name == l.Name && s.Source == v1alpha1.LimitLearned && s.Value > 0 && s.Value < plan.MaxAmount {
				l.Amount, l.Burst, l.Watch = s.Value, s.Value, false
				out = append(out, l)
			}
		}
	}
	return out
}
