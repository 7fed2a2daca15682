// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/policy"
)

// accountsOf are the file's accounts as a namespace sees them; those that are invalid are told of elsewhere.
func accountsOf(objects *policy.Objects, namespace string) map[string]policy.Account {
	out, _ := objects.AccountsOf(namespace)
	return out
}

// accounts reports whether all would be accepted.
func (p *page) accounts(all []v1alpha1.ProviderAccount) bool {
	valid := true
	for i := range all {
		if i > 0 {
			p.WriteString("\n")
		}
		if errs := policy.ValidateAccount(&all[i]); len(errs) > 0 {
			valid = false
			p.line("ProviderAccount %s is invalid and would be refused:", all[i].Name)
			for _, e := range errs {
				p.line("  %s", e.Error())
			}
			continue
		}
		p.account(&all[i])
	}
	return valid
}

func (p *page) account(a *v1alpha1.ProviderAccount) {
	p.line("ProviderAccount %s is what %s sold, for %s.", a.Name, a.Spec.Dialect, namespacesOf(a.Spec.AllowedNamespaces))
	for _, warning := range policy.AccountWarnings(a) {
		p.line("  Warning: %s", warning)
	}
	limits := policy.AccountLimits(a)
	p.WriteByte('\n')
	if len(limits) == 0 {
		p.line("  No limits are declared: they are learned from the provider's answers. Until then each gateway keeps to what it is told itself.")
	} else {
		p.tableOfLimits(limits)
		p.line("  All gateways of these namespaces together keep to them.")
	}
	if n := a.Spec.MaxGateways; n != nil && len(limits) > 0 {
		p.line("  A gateway that hears from no coordinator keeps to 1/%d of each, unless its policy says otherwise.", 2**n)
	}
	p.tenants(a, limits)
}

func namespacesOf(allowed *v1alpha1.AllowedNamespaces) string {
	if allowed == nil {
		return "no namespace"
	}
	var parts []string
	if len(allowed.Names) > 0 {
		parts = append(parts, strings.Join(allowed.Names, ", "))
	}
	if s := allowed.Selector; s != nil {
		chosen := labelled(s)
		if chosen == "" {
			return "every namespace"
		}
		parts = append(parts, "namespaces with "+chosen)
	}
	return cmp.Or(strings.Join(parts, " and "), "no namespace")
}

func labelled(s *v1alpha1.NamespaceSelector) string {
	return termsOf(policy.Terms((*v1alpha1.PodSelector)(s)))
}

// tenants says what each namespace has of the account.
func (p *page) tenants(a *v1alpha1.ProviderAccount, limits []plan.Limit) {
	tenants := policy.Tenants(a)
	if len(tenants) == 0 {
		p.line("  No namespace is guaranteed a part: those that ask divide the account evenly, up to what each asks for.")
		return
	}
	rows := [][]string{{"NAMESPACE", "GUARANTEED", "LENDS", "BORROWS", "WEIGHT"}}
	for _, t := range tenants {
		rows = append(rows, []string{t.Namespace, guaranteedText(t, limits), lendsText(t), borrowsText(t), fmt.Sprint(t.Weight)})
	}
	p.WriteByte('\n')
	p.table(rows)
	p.line("  Other namespaces that are allowed are guaranteed nothing and borrow with weight 1.")
	p.line("  What is left is divided by weight, up to what each asks for; what is lent comes back within moments of being asked for.")
}

func guaranteedText(t policy.Tenant, limits []plan.Limit) string {
	if t.GuaranteedPercent == 0 {
		return "nothing"
	}
	text := fmt.Sprintf("%d%%", t.GuaranteedPercent)
	for _, l := range limits {
		if countsTokens(l) {
			return text + fmt.Sprintf(" (%s of %s)", amount(float64(l.Amount)*float64(t.GuaranteedPercent)/100), l.Name)
		}
	}
	return text
}

func lendsText(t policy.Tenant) string {
	switch {
	case t.GuaranteedPercent == 0:
		return "-"
	case t.LendablePercent == nil || *t.LendablePercent == 100:
		return "all of it"
	case *t.LendablePercent == 0:
		return "nothing"
	}
	return fmt.Sprintf("%d%% of it", *t.LendablePercent)
}

func borrowsText(t policy.Tenant) string {
	switch limit := t.BorrowingLimitPercent; {
	case limit == nil || *limit+t.GuaranteedPercent >= 100:
		return "what is left"
	case *limit == 0:
		return "nothing"
	default:
		return fmt.Sprintf("up to %d%%, so %d%% in all", *limit, *limit+t.GuaranteedPercent)
	}
}

// share says what a route's namespace has of its account.
func (p *page) share(r plan.Route, a policy.Account, routes int) {
	if a.Name == "" {
		return
	}
	if r.Account == "" {
		p.line("  Account %s: its limits are learned from the provider's answers, and then shared with other namespaces.", a.Name)
		return
	}
	p.line("  %s:… are of the account, shared with the other namespaces that refer to it.", a.Name)
	if a.Tenant.Namespace == "" {
		p.line("  What the namespace is guaranteed is not known: state metadata.namespace.")
		return
	}
	p.line("  Namespace %s is guaranteed %s of it, lends %s, and borrows %s.",
		a.Tenant.Namespace, guaranteedText(a.Tenant, a.Limits), strings.Replace(lendsText(a.Tenant), "-", "nothing", 1), borrowsText(a.Tenant))
	if routes > 1 {
		p.line("  Its %d providers on the account divide what is guaranteed evenly.", routes)
	}
}
