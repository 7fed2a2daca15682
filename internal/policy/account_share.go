// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"math/bits"
	"slices"

	"github.com/headgate-dev/headgate/internal/plan"
)

// Guaranteed is the route with what a namespace is sure of: of its account's limits the guaranteed part, of its own all.
// What is taken back from others takes moments more than its bounds say.
func Guaranteed(r *plan.Route, guaranteedPercent int32) *plan.Route {
	out := *r
	out.Limits = slices.DeleteFunc(slices.Clone(r.Limits), func(l plan.Limit) bool { return l.Watch })
	for i := range out.Limits {
		if l := &out.Limits[i]; l.Account != "" {
			l.Amount = percentOf(l.Amount, guaranteedPercent)
		}
	}
	return &out
}

// percentOf is n·percent/100 rounded down, without overflow.
func percentOf(n int64, percent int32) int64 {
	if n <= 0 || percent <= 0 {
		return 0
	}
	high, low := bits.Mul64(uint64(n), uint64(percent))
	whole, _ := bits.Div64(high, low, wholePercent)
	return int64(whole)
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
