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
	wait, limit := w.longestWait(lane, func(l plan.Limit) int64 {
		if countsInput(l) {
			return largest
		}
		return 0
	})
	if wait > patience {
		w.warn(at.Child("reservedPercent"),
			"under load a call of %s tokens waits up to %s for limit %s, and may wait %s: raise the share, "+
				"the deadline or queue.maxWait", quantityText(largest), millis(wait), limit, millis(patience))
	}
}

// laneQueue finds a stated depth that the lane's sure share cannot serve in time. The default depth bounds
// memory and promises nothing.
func (w *warner) laneQueue(at *field.Path, stated *v1alpha1.Lane, lane plan.Lane) {
	if stated.Queue == nil || stated.Queue.MaxDepth == nil {
		return
	}
	wait, limit := w.longestWait(lane, func(l plan.Limit) int64 {
		switch {
		case l.Budget == plan.Requests:
			return int64(lane.MaxDepth)
		case countsInput(l):
			return int64(lane.MaxDepth) * lane.MinInputTokens
		}
		return 0
	})
	if wait > lane.MaxWaitMillis {
		w.warn(at.Child("queue", "maxDepth"),
			"under load the last of %d waiting calls would wait %s for limit %s, longer than maxWait %s: lower it",
			lane.MaxDepth, millis(wait), limit, millis(lane.MaxWaitMillis))
	}
}

// longestWait finds the limit in which the lane's share takes longest to hold a cost. Limits for some models
// only may not concern the lane, and caps refuse rather than queue: neither counts.
func (w *warner) longestWait(lane plan.Lane, cost func(plan.Limit) int64) (wait int64, limit string) {
	for _, l := range w.route.Limits {
		if len(l.Models) > 0 || l.WindowSeconds >= capWindowSeconds || l.Burst == 0 {
			continue
		}
		if took := refillMillis(cost(l), l, lane.SharePermille); took > wait {
			wait, limit = took, l.Name
		}
	}
	return wait, limit
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
			w.warn(at, "a call of %s tokens to a model of limit %s exceeds its burst %s, so it waits for a full bucket or is refused: "+
				"raise the burst, or send such calls to other models", quantityText(largest), limit.Name, quantityText(limit.Burst))
		}
	}
}
