// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"slices"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/plan"
)

const wholePermille = 1000

// compileLanes puts the lane default last, with or without an entry of its own, and divides the shares.
func compileLanes(lanes []v1alpha1.Lane) []plan.Lane {
	ordered, indexDefault := make([]v1alpha1.Lane, 0, len(lanes)+1), -1
	for i := range lanes {
		if lanes[i].Name == plan.DefaultLane {
			indexDefault = i
			continue
		}
		ordered = append(ordered, lanes[i])
	}
	last := v1alpha1.Lane{Name: plan.DefaultLane}
	if indexDefault >= 0 {
		last = lanes[indexDefault]
	}
	ordered = append(ordered, last)

	out := make([]plan.Lane, len(ordered))
	for i := range ordered {
		out[i] = compileLane(&ordered[i])
	}
	divideShares(ordered, out)
	return out
}

func compileLane(l *v1alpha1.Lane) plan.Lane {
	queue := orDefault(l.Queue, v1alpha1.LaneQueue{})
	match := orDefault(l.Match, v1alpha1.LaneMatch{})
	return plan.Lane{
		Name: l.Name, MinInputTokens: whole(match.MinInputTokens), LargestCallTokens: whole(l.LargestCall),
		MaxDepth:      orDefault(queue.MaxDepth, defaultMaxDepth),
		MaxWaitMillis: duration(queue.MaxWait, defaultMaxWait).Milliseconds(),
	}
}

// divideShares gives each lane the share it states, and the rest in equal parts to those that state none and
// that a call can reach: a lane behind one that matches every call (usually the implicit default) would
// only keep its part from the others. What does not divide goes to no lane.
func divideShares(stated []v1alpha1.Lane, lanes []plan.Lane) {
	rest := int32(wholePermille)
	var open []int
	for i := range stated {
		switch {
		case stated[i].ReservedPercent != nil:
			lanes[i].SharePermille = *stated[i].ReservedPercent * wholePermille / 100
			rest -= lanes[i].SharePermille
		case reachable(lanes, i):
			open = append(open, i)
		}
	}
	for _, i := range open {
		lanes[i].SharePermille = max(rest, 0) / int32(len(open))
	}
}

// reachable says whether some size of call takes lane i: the first lane that matches takes it, so each
// earlier one must ask for a larger input.
func reachable(lanes []plan.Lane, i int) bool {
	return !slices.ContainsFunc(lanes[:i], func(earlier plan.Lane) bool {
		return earlier.MinInputTokens <= lanes[i].MinInputTokens
	})
}
