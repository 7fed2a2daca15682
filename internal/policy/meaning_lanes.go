// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"strings"

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
	lane := compileLane(l)
	errs := joinErrs(defaultMeaning(path.Child("match"), l.Name, &lane), headerMeaning(path.Child("match", "header", "name"), lane.Header))
	at := path.Child("match", "minInputTokens")
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

// defaultMeaning keeps a lane that takes every call from being asked for some.
func defaultMeaning(path *field.Path, name string, lane *plan.Lane) field.ErrorList {
	if name != plan.DefaultLane || lane.Covers(&plan.Lane{}) {
		return nil
	}
	stated := "match"
	if lane.MinInputTokens > 0 {
		path, stated = path.Child("minInputTokens"), quantityText(lane.MinInputTokens)
	}
	return field.ErrorList{field.Invalid(path, stated,
		"the lane default takes every call that no other lane takes: leave match out, or give the lane another name")}
}

// unmatchable are headers of which a policy must not speak: their values are keys, which a plan never holds, or they
// belong to one connection and say nothing of the call.
var unmatchable = map[string]string{
	"authorization": "carries a key", "proxy-authorization": "carries a key", "x-api-key": "carries a key",
	"api-key": "carries a key", "x-goog-api-key": "carries a key", "cookie": "carries a key",
	"x-amz-security-token": "carries a key", "host": "is the provider's to name", "connection": "belongs to one connection",
	"content-length": "belongs to one connection", "keep-alive": "belongs to one connection", "te": "belongs to one connection",
	"trailer": "belongs to one connection", "transfer-encoding": "belongs to one connection", "upgrade": "belongs to one connection",
}

func headerMeaning(path *field.Path, h *plan.Header) field.ErrorList {
	if h == nil {
		return nil
	}
	if why, ok := unmatchable[strings.ToLower(h.Name)]; ok {
		return field.ErrorList{field.Invalid(path, h.Name, "a lane cannot be matched by it, because it "+why+": match another header")}
	}
	return nil
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

// hold is what an idle lane keeps: min(r·C, hold·r·R) with a hold that is stated, else min(r·C/2, 10 s·r·R), rounded
// down; r is SharePermille/1000, C the burst and R amount/window. In floating point, for the factors together can exceed
// 64 bits.
func hold(lane plan.Lane, limit plan.Limit) int64 {
	share := float64(lane.SharePermille) / wholePermille
	most, seconds := share*float64(limit.Burst)/2, float64(holdSeconds)
	if lane.HoldMillis != nil {
		most, seconds = share*float64(limit.Burst), float64(*lane.HoldMillis)/1000
	}
	return int64(min(most, seconds*share*float64(limit.Amount)/float64(limit.WindowSeconds)) + 1e-6)
}

func countsInput(limit plan.Limit) bool {
	return limit.Budget == plan.InputTokens || limit.Budget == plan.Tokens
}
