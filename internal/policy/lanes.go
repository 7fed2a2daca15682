// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"net/textproto"
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
		Header: compileHeader(match.Header), Models: slices.Clone(match.Models), Paths: slices.Clone(match.Paths),
		Priority: orDefault(l.Priority, 0), Weight: unlessOne(orDefault(l.Weight, 1)), HoldMillis: compileHold(l.Hold),
		MaxDepth: orDefault(queue.MaxDepth, defaultMaxDepth), MaxBytes: whole(queue.MaxBytes),
		MaxWaitMillis: duration(queue.MaxWait, defaultMaxWait).Milliseconds(),
		KeepAlive:     queue.KeepAlive == v1alpha1.KeepAlivePings,
		CredentialKey: l.CredentialKey,
	}
}

func compileHeader(h *v1alpha1.HeaderMatch) *plan.Header {
	if h == nil {
		return nil
	}
	return &plan.Header{Name: textproto.CanonicalMIMEHeaderKey(h.Name), Value: h.Value}
}

// unlessOne leaves the weight 1 out, which is what no weight means.
func unlessOne(weight int32) int32 {
	if weight == 1 {
		return 0
	}
	return weight
}

// compileHold keeps the difference between no hold and the engine's own choice.
func compileHold(hold v1alpha1.Duration) *int64 {
	if hold == "" {
		return nil
	}
	millis := duration(hold, 0).Milliseconds()
	return &millis
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

// reachable says whether some call takes lane i: the first lane that matches takes it, so no earlier one may match all
// of its calls.
func reachable(lanes []plan.Lane, i int) bool { return coveredBy(lanes, i) < 0 }

// coveredBy is the first lane before i that takes all of its calls, -1 if there is none.
func coveredBy(lanes []plan.Lane, i int) int {
	return slices.IndexFunc(lanes[:i], func(earlier plan.Lane) bool { return earlier.Covers(&lanes[i]) })
}
