// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/plan"
)

// holdSeconds bounds how much unused credit a lane keeps from the others: what it earns in this time.
const holdSeconds = 10

// lanesMeaning refuses lanes that could not all be served.
func lanesMeaning(path *field.Path, lanes []v1alpha1.Lane, route plan.Route) field.ErrorList {
	var errs field.ErrorList
	for i := range lanes {
		errs = append(errs, laneMeaning(path.Index(i), &lanes[i], route)...)
	}
	for _, limit := range route.Limits {
		if !countsInput(limit) || limit.Burst == 0 || len(limit.Models) > 0 {
			continue
		}
		if need := laneNeed(route.Lanes, limit); need > limit.Burst {
			errs = append(errs, field.Invalid(path, quantityText(need), fmt.Sprintf(
				"the lanes' largest calls and holds add up to %s, more than limit %s ever holds (burst %s): "+
					"raise its burst or lower largestCall", quantityText(need), limit.Name, quantityText(limit.Burst))))
		}
	}
	return errs
}

func laneMeaning(path *field.Path, l *v1alpha1.Lane, route plan.Route) field.ErrorList {
	var errs field.ErrorList
	lane := compileLane(l)
	at := path.Child("match", "minInputTokens")
	if l.Name == plan.DefaultLane && lane.MinInputTokens > 0 {
		errs = append(errs, field.Invalid(at, quantityText(lane.MinInputTokens),
			"the lane default takes every call that no other lane takes: leave match out, or give the lane another name"))
	}
	if l.LargestCall != nil && lane.LargestCallTokens < lane.MinInputTokens {
		errs = append(errs, field.Invalid(path.Child("largestCall"), quantityText(lane.LargestCallTokens),
			fmt.Sprintf("is smaller than the smallest call of the lane (minInputTokens %s): raise it", quantityText(lane.MinInputTokens))))
	}
	for _, limit := range route.Limits {
		if countsInput(limit) && len(limit.Models) == 0 && limit.Burst > 0 && lane.MinInputTokens > limit.Burst {
			errs = append(errs, field.Invalid(at, quantityText(lane.MinInputTokens), fmt.Sprintf(
				"no call of this lane ever fits limit %s (burst %s): lower it, or raise the burst", limit.Name, quantityText(limit.Burst))))
		}
	}
	return errs
}

// laneNeed is Σ max(largest call, hold) over the lanes: while it is at most the burst, the credits that lanes
// collect fit in the bucket together, and each committed call is served within its bound.
func laneNeed(lanes []plan.Lane, limit plan.Limit) int64 {
	need := int64(0)
	for _, lane := range lanes {
		need += max(lane.LargestCallTokens, hold(lane, limit))
	}
	return need
}

// hold is min(r·C/2, 10 s·r·R), rounded down; r is SharePermille/1000, C the burst and R amount/window.
func hold(lane plan.Lane, limit plan.Limit) int64 {
	share := int64(lane.SharePermille)
	half := share * limit.Burst / (2 * wholePermille)
	earned := holdSeconds * share * limit.Amount / (wholePermille * limit.WindowSeconds)
	return min(half, earned)
}

func countsInput(limit plan.Limit) bool {
	return limit.Budget == plan.InputTokens || limit.Budget == plan.Tokens
}
