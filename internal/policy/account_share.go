// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"slices"

	"github.com/headgate-dev/headgate/internal/plan"
)

// Guaranteed is the route with what it is sure of: of its account's limits the part that is guaranteed to the namespace,
// divided evenly among its routes on the account; of its own limits all.
// What is taken back from others takes moments more than its bounds say.
func Guaranteed(r *plan.Route, guaranteedPercent float64) *plan.Route {
	out := *r
	out.Limits = slices.DeleteFunc(slices.Clone(r.Limits), func(l plan.Limit) bool { return l.Watch })
	for i := range out.Limits {
		if l := &out.Limits[i]; l.Account != "" {
			l.Amount = int64(float64(l.Amount) * guaranteedPercent / wholePercent)
		}
	}
	return &out
}

// onlyBorrows names the account of which the route is sure of nothing, empty if there is none.
func onlyBorrows(r *plan.Route) string {
	for i := range r.Limits {
		if l := &r.Limits[i]; l.Account != "" && l.Amount == 0 && l.Burst > 0 {
			return l.Account
		}
	}
	return ""
}
