// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/plan"
)

func (w *warner) lanes() {
	byName := map[string]int{}
	for i := range w.provider.Lanes {
		byName[w.provider.Lanes[i].Name] = i
	}
	for position := range w.route.Lanes {
		lane := &w.route.Lanes[position]
		i, declared := byName[lane.Name]
		at := w.path.Child("lanes")
		if declared {
			at = at.Index(i)
		}
		if earlier := coveredBy(w.route.Lanes, position); earlier >= 0 {
			if declared {
				w.warn(at, "no call takes lane %s, because the earlier lane %s takes all of its calls: move it up, or remove it",
					lane.Name, w.route.Lanes[earlier].Name)
			}
			continue
		}
		w.laneWithoutShare(at, lane)
		if !declared {
			continue
		}
		w.laneWaits(at, lane)
		w.laneHold(at, lane)
		w.laneQueue(at, &w.provider.Lanes[i], lane)
		w.laneBytes(at, lane)
		w.laneKeepAlive(at.Child("queue", "keepAlive"), lane)
		w.laneSlots(at, &w.provider.Lanes[i], *lane)
		w.laneModels(at, *lane)
		w.lanePaths(at, lane)
	}
}

// laneWithoutShare finds a lane that has no guarantee at all.
func (w *warner) laneWithoutShare(at *field.Path, lane *plan.Lane) {
	if lane.SharePermille == 0 && len(w.route.Limits) > 0 {
		w.warn(at, "lane %s is sure of nothing and only takes what others leave, so its calls may never go: reserve it a share, "+
			"or leave some of the 100%% to it, unless that is meant", lane.Name)
	}
}

// laneWaits compares the lane's guaranteed wait with what a call may wait.
func (w *warner) laneWaits(at *field.Path, lane *plan.Lane) {
	largest := largestCall(lane)
	wait, limit, _ := w.route.WaitBound(lane, largest)
	patience, bound := w.route.Deadline.DefaultMillis, "the deadline"
	if lane.MaxWaitMillis < patience {
		patience, bound = lane.MaxWaitMillis, "queue.maxWait"
	}
	if largest == 0 || wait.Milliseconds() <= patience {
		return
	}
	w.warn(at.Child("reservedPercent"),
		"under load a call of %s tokens waits up to %s for limit %s, longer than %s of %s: raise the share, "+
			"the deadline or queue.maxWait", quantityText(largest), millis(wait.Milliseconds()), limit, bound, millis(patience))
}

// largestCall is the largest input a lane is known to be for; 0 where nothing is.
func largestCall(lane *plan.Lane) int64 { return max(lane.LargestCallTokens, lane.MinInputTokens) }

// laneHold finds a hold of more than the lane can keep.
func (w *warner) laneHold(at *field.Path, lane *plan.Lane) {
	if lane.HoldMillis == nil {
		return
	}
	for i := range w.route.Limits {
		l := &w.route.Limits[i]
		if full := l.Refill(l.Burst, wholePermille).Milliseconds(); full > 0 && *lane.HoldMillis > full {
			w.warn(at.Child("hold"), "the lane's share of the burst of limit %s refills in %s, so that it never keeps what %s earn: "+
				"lower it, or raise the burst", l.Name, millis(full), millis(*lane.HoldMillis))
			return
		}
	}
}

// laneQueue finds a stated depth that the lane's sure share cannot serve in time. The default depth bounds
// memory and promises nothing.
func (w *warner) laneQueue(at *field.Path, stated *v1alpha1.Lane, lane *plan.Lane) {
	if stated.Queue == nil || stated.Queue.MaxDepth == nil {
		return
	}
	// All that wait, as one call: the requests, and the tokens that each has at least.
	var wait time.Duration
	var limit string
	for i := range w.route.Limits {
		l := &w.route.Limits[i]
		cost := int64(lane.MaxDepth)
		if l.Budget != plan.Requests {
			cost *= lane.MinInputTokens
		}
		if l.WindowSeconds >= plan.CapWindowSeconds || l.Burst == 0 || !l.CountsAll(lane) || l.Budget != plan.Requests && !countsInput(*l) {
			continue
		}
		if took := l.Refill(cost, lane.SharePermille); took > wait {
			wait, limit = took, l.Name
		}
	}
	if wait.Milliseconds() > lane.MaxWaitMillis {
		w.warn(at.Child("queue", "maxDepth"),
			"under load the last of %d waiting calls would wait %s for limit %s, longer than maxWait %s: lower it",
			lane.MaxDepth, millis(wait.Milliseconds()), limit, millis(lane.MaxWaitMillis))
	}
}

// bytesPerToken is about what a token of text has.
const bytesPerToken = 3

// laneBytes finds a queue that none of the lane's calls fits.
func (w *warner) laneBytes(at *field.Path, lane *plan.Lane) {
	if least := lane.MinInputTokens * bytesPerToken; lane.MaxBytes > 0 && lane.MaxBytes < least {
		w.warn(at.Child("queue", "maxBytes"), "a call of %s tokens has about %s bytes, so that none of the lane's can wait: raise it",
			quantityText(lane.MinInputTokens), quantityText(least))
	}
}

// laneKeepAlive finds pings that no client ever hears, and says where only some do.
func (w *warner) laneKeepAlive(at *field.Path, lane *plan.Lane) {
	longest := min(lane.MaxWaitMillis, w.route.Deadline.DefaultMillis)
	switch {
	case !lane.KeepAlive:
	case lane.MaxDepth == 0:
		w.warn(at, "no call waits in a queue of depth 0, so that nothing is sent: raise queue.maxDepth, or leave it out")
	case longest <= plan.PingEvery.Milliseconds():
		w.warn(at, "calls wait %s at most, and the first ping would come after %s: raise queue.maxWait and the deadline, or leave it out",
			millis(longest), millis(plan.PingEvery.Milliseconds()))
	case w.route.Dialect == string(v1alpha1.DialectBedrock):
		w.warn(at, "of %s's streams only those of chat completions, responses and messages are server-sent events: clients of converse "+
			"and invoke, and of signed requests, hear no pings", w.route.Dialect)
	}
}

// lanePaths finds paths that name the route, which is cut off before.
func (w *warner) lanePaths(at *field.Path, lane *plan.Lane) {
	for _, path := range lane.Paths {
		if strings.HasPrefix(path, "/"+w.route.Name+"/") {
			w.warn(at.Child("match", "paths"), "%s begins with the provider's name, which is cut off before: leave /%s out unless that is meant",
				path, w.route.Name)
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
	largest := largestCall(&lane)
	for _, limit := range w.route.Limits {
		if len(limit.Models) > 0 && countsInput(limit) && limit.Burst > 0 && largest > limit.Burst {
			w.warn(at, "a call of %s tokens to a model of limit %s exceeds its burst %s, so it waits for a full bucket or is refused: "+
				"raise the burst, or send such calls to other models", quantityText(largest), limit.Name, quantityText(limit.Burst))
		}
	}
}
