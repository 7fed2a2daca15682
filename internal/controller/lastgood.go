// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"slices"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/policy"
)

// keepLastGood puts the last good generation of policies that have become invalid (by an edit that passed
// the webhook by) back into the plan, at their place: to drop them would free their pods of every limit. It
// reports whether it did.
func keepLastGood(next *plan.Plan, seen *observed, outcomes []policy.Outcome, in policy.Inputs) bool {
	var kept []plan.Policy
	for i, o := range outcomes {
		if before := previousOf(in.Previous, &seen.policies[i]); before != nil && len(o.Errors) > 0 {
			kept = append(kept, *before)
		}
	}
	if len(kept) == 0 {
		return false
	}
	with := *next
	with.Policies = slices.Concat(next.Policies, kept)
	slices.SortFunc(with.Policies, byPrecedence(seen.policies))
	with.Revision = in.Previous.Revision
	if !plan.SameContent(with, *in.Previous) {
		with.Revision = plan.NextRevision(in.Previous.Revision, in.Now)
	}
	if _, err := plan.Encode(with); err != nil {
		return false
	}
	*next = with
	return true
}

// previousOf finds the policy in the last plan, by UID: one of the same name may be another.
func previousOf(previous *plan.Plan, p *v1alpha1.RateLimitPolicy) *plan.Policy {
	if previous == nil {
		return nil
	}
	for i := range previous.Policies {
		if before := &previous.Policies[i]; before.Name == p.Name && before.UID == string(p.UID) {
			return before
		}
	}
	return nil
}

// byPrecedence is policy.Compile's order.
func byPrecedence(policies []v1alpha1.RateLimitPolicy) func(a, b plan.Policy) int {
	created := make(map[string]int64, len(policies))
	for i := range policies {
		created[policies[i].Name] = policies[i].CreationTimestamp.Unix()
	}
	empty := func(p plan.Policy) int {
		if len(p.Selector) == 0 {
			return 1
		}
		return 0
	}
	return func(a, b plan.Policy) int {
		return cmp.Or(cmp.Compare(empty(a), empty(b)), cmp.Compare(created[a.Name], created[b.Name]), cmp.Compare(a.Name, b.Name))
	}
}
