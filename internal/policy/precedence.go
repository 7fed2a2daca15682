// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"cmp"
	"maps"
	"slices"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/plan"
)

// precedence orders the compiled policies: a non-empty selector first, then the older, then the name.
func precedence(policies []v1alpha1.RateLimitPolicy, compiled map[int]plan.Policy) []int {
	return slices.SortedFunc(maps.Keys(compiled), func(a, b int) int {
		return cmp.Or(
			cmp.Compare(emptiness(compiled[a]), emptiness(compiled[b])),
			byAge(&policies[a], &policies[b]),
		)
	})
}

func emptiness(p plan.Policy) int {
	if len(p.Selector) == 0 {
		return 1
	}
	return 0
}

func byAge(a, b *v1alpha1.RateLimitPolicy) int {
	return cmp.Or(
		a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
		cmp.Compare(a.Name, b.Name),
	)
}

// overrides finds the routes of p that an earlier policy governs for every pod that p selects, and the
// first winner if that is all of them. It reasons on selectors alone, so that the answer does not change
// with the pods: a policy that loses some pods and keeps others is doing what its author wrote.
func overrides(p plan.Policy, earlier []plan.Policy) (lost []Override, by string) {
	for _, route := range p.Routes {
		for i := range earlier {
			if !covers(earlier[i].Selector, p.Selector) {
				continue
			}
			if _, has := earlier[i].Route(route.Name); has {
				lost = append(lost, Override{Route: route.Name, By: earlier[i].Name})
				break
			}
		}
	}
	if len(lost) == len(p.Routes) && len(lost) > 0 {
		by = lost[0].By
	}
	return lost, by
}

// covers says whether a pod for which all of inner hold surely satisfies all of outer.
func covers(outer, inner []plan.Term) bool {
	for _, term := range outer {
		if !slices.ContainsFunc(inner, func(t plan.Term) bool { return sameTerm(term, t) }) {
			return false
		}
	}
	return true
}

func sameTerm(a, b plan.Term) bool {
	return a.Key == b.Key && a.Operator == b.Operator && slices.Equal(a.Values, b.Values)
}

// dropWhatDoesNotFit removes the youngest policies that would take the plan over its bound, so that one
// policy too many stops nobody who is served already, and returns their indices.
func dropWhatDoesNotFit(empty plan.Plan, policies []v1alpha1.RateLimitPolicy, compiled map[int]plan.Policy) []int {
	oldestFirst := slices.SortedFunc(maps.Keys(compiled), func(a, b int) int {
		return byAge(&policies[a], &policies[b])
	})
	fixed := encodedSize(empty)
	room := plan.MaxBytes - fixed - planOverheadBytes
	var dropped []int
	kept := 0
	for _, i := range oldestFirst {
		alone := empty
		alone.Policies = []plan.Policy{compiled[i]}
		size := encodedSize(alone) - fixed + 1
		if size > room || kept == plan.MaxPolicies {
			dropped = append(dropped, i)
			continue
		}
		room -= size
		kept++
	}
	for _, i := range dropped {
		delete(compiled, i)
	}
	return dropped
}

// planOverheadBytes is more than the list of policies and the longest revision add.
const planOverheadBytes = 64

func encodedSize(p plan.Plan) int {
	out, err := plan.Encode(p)
	if err != nil {
		return plan.MaxBytes + 1
	}
	return len(out)
}
