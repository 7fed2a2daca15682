// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/plan"
)

func (w *warner) lanes() {
	byName := map[string]int{}
	for i := range w.provider.Lanes {
		byName[w.provider.Lanes[i].Name] = i
	}
	for position, lane := range w.route.Lanes {
		i, declared := byName[lane.Name]
		if !declared {
			continue
		}
		at := w.path.Child("lanes").Index(i)
		if !reachable(w.route.Lanes, position) {
			w.warn(at, "no call takes lane %s, because an earlier lane takes all of its calls: move it up, or remove it", lane.Name)
			continue
		}
		w.laneWaits(at, lane)
		w.laneQueue(at, &w.provider.Lanes[i], lane)
		w.laneSlots(at, &w.provider.Lanes[i], lane)
		w.laneModels(at, lane)
	}
}

// laneWaits compares the lane's guaranteed wait with what a call may wait.
func (w *warner) laneWaits(at *field.Path, lane plan.Lane) {
	patience := min(w.route.Deadline.DefaultMillis, lane.MaxWaitMillis)
	largest := max(lane.LargestCallTokens, lane.MinInputTokens)
	for _, limit := range w.route.Limits {
		if !countsInput(limit) || largest == 0 {
			continue
		}
		if wait := refillMillis(largest, limit, lane.SharePermille); wait > patience {
			w.warn(at.Child("reservedPercent"),
				"under load a call of %s tokens waits up to %s for limit %s, and may wait %s: raise the share, "+
					"the deadline or queue.maxWait", quantityText(largest), millis(wait), limit.Name, millis(patience))
		}
	}
}

// laneQueue finds a stated depth that the lane's sure share cannot serve in time. The default depth bounds
// memory and promises nothing.
func (w *warner) laneQueue(at *field.Path, stated *v1alpha1.Lane, lane plan.Lane) {
	if stated.Queue == nil || stated.Queue.MaxDepth == nil {
		return
	}
	for _, limit := range w.route.Limits {
		cost := int64(0)
		switch {
		case limit.Budget == plan.Requests:
			cost = 1
		case countsInput(limit):
			cost = lane.MinInputTokens
		}
		wait := refillMillis(cost*int64(lane.MaxDepth), limit, lane.SharePermille)
		if wait > lane.MaxWaitMillis {
			w.warn(at.Child("queue", "maxDepth"),
				"under load the last of %d waiting calls would wait %s for limit %s, longer than maxWait %s: lower it",
				lane.MaxDepth, millis(wait), limit.Name, millis(lane.MaxWaitMillis))
		}
	}
}

// laneSlots finds a reservation of calls in flight that rounds to none.
func (w *warner) laneSlots(at *field.Path, stated *v1alpha1.Lane, lane plan.Lane) {
	if stated.ReservedPercent == nil || *stated.ReservedPercent == 0 {
		return
	}
	for _, limit := range w.route.Limits {
		if limit.Budget == plan.InFlight && limit.Amount > 0 && limit.Amount*int64(lane.SharePermille) < wholePermille {
			w.warn(at.Child("reservedPercent"), "%d%% of the %d calls of limit %s is less than one, so the lane has none of its own: "+
				"raise it", *stated.ReservedPercent, limit.Amount, limit.Name)
		}
	}
}

// laneModels finds a limit for some models that the lane's calls may never fit.
func (w *warner) laneModels(at *field.Path, lane plan.Lane) {
	largest := max(lane.LargestCallTokens, lane.MinInputTokens)
	for _, limit := range w.route.Limits {
		if len(limit.Models) > 0 && countsInput(limit) && limit.Burst > 0 && largest > limit.Burst {
			w.warn(at, "a call of %s tokens to a model of limit %s never fits its burst %s and goes only when it is full: "+
				"raise the burst, or send such calls to other models", quantityText(largest), limit.Name, quantityText(limit.Burst))
		}
	}
}
