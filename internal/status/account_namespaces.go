// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"cmp"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/ledger"
	"github.com/headgate-dev/headgate/internal/plan"
)

// MaxAccountNamespaces is how many namespaces an account's status names.
const MaxAccountNamespaces = 20

// accountNamespaces are those that use most, each on the limit of which it uses most. They are sorted by name, so that
// the list does not change with every figure.
func accountNamespaces(in AccountInputs, limits []accountLimit) []v1alpha1.AccountNamespaceStatus {
	var out []v1alpha1.AccountNamespaceStatus
	for _, t := range in.Budgets.Tenants[:min(len(in.Budgets.Tenants), MaxAccountNamespaces)] {
		s := v1alpha1.AccountNamespaceStatus{Name: t.Namespace, Share: percent(float64(in.Guaranteed[t.Namespace]), 100)}
		if whole := perMinute(t, limits); whole > 0 {
			s.Used, s.UsedBorrowed, s.UnusedLent = percent(t.Used, whole), some(t.Borrowed, whole), some(t.Lent, whole)
		}
		if t.Waiting >= 1 {
			s.Waiting = amount(t.Waiting)
		}
		out = append(out, s)
	}
	sortByName(out, func(s v1alpha1.AccountNamespaceStatus) string { return s.Name })
	return out
}

// perMinute is all of the limit that a tenant's figures are about, in their units.
func perMinute(t ledger.TenantFigures, limits []accountLimit) float64 {
	for i := range limits {
		l := &limits[i]
		switch {
		case l.declared.Name != t.Limit:
		case l.declared.Budget == plan.InFlight:
			return l.total()
		default:
			return l.total() / max(l.window.Minutes(), 1e-9)
		}
	}
	return 0
}

// some leaves out what is nothing.
func some(part, whole float64) v1alpha1.Percent {
	if part < 0.0005*whole {
		return ""
	}
	return percent(part, whole)
}

func sortByName[T any](list []T, name func(T) string) {
	slices.SortFunc(list, func(a, b T) int { return strings.Compare(name(a), name(b)) })
}

// namespacesOf are the routes' namespaces, sorted.
func namespacesOf(routes []AccountRoute) []string {
	var out []string
	for i := range routes {
		out = append(out, routes[i].Namespace)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// policiesOf counts the routes' policies.
func policiesOf(routes []AccountRoute) int {
	seen := map[string]bool{}
	for i := range routes {
		seen[routes[i].Namespace+"/"+routes[i].Policy] = true
	}
	return len(seen)
}

// few names at most three of a list.
func few(names []string) string {
	const most = 3
	text := strings.Join(names[:min(len(names), most)], ", ")
	if more := len(names) - most; more > 0 {
		text += " and " + count(more, "other")
	}
	return cmp.Or(text, "none")
}
