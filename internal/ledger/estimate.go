// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/plan"
)

// laneAt is the place of a lane; -1 if the plan does not have it.
func laneAt(lanes []plan.Lane, name string) int {
	return slices.IndexFunc(lanes, func(l plan.Lane) bool { return l.Name == name })
}

// lane is a route's of one lane, with an estimate of the wait of its next large call: while nobody waits it goes when all
// that refills suffices, else after those of its lane that wait before it, by the lane's part of what its tenant may count
// on.
func (c *census) lane(r *routeCensus, f *RouteFigures, i int) LaneFigures {
	out := LaneFigures{Name: r.plan.Lanes[i].Name, Waiting: r.calls[i]}
	costs := r.largestCall(i, c.now)
	part := parts(r.plan.Lanes)[i]
	for k, cost := range costs {
		name, ok := r.budgets[r.plan.Limits[k].Name]
		b := c.books[name]
		limit := Budget(r.plan.Limits[k], r.maxGateways)
		if !ok || cost <= 0 || limit.Kind == budget.Slots {
			continue
		}
		need, rate := min(cost, limit.Capacity)-max(0, b.Level), b.Rate
		if c.waiting[name] > 0 {
			need, rate = min(cost, limit.Capacity)+r.bulk[i][k], f.Limits[k].Share/minute*part
		}
		if need > 0 && rate <= 0 {
			return LaneFigures{Name: out.Name, Waiting: out.Waiting, Binding: r.plan.Limits[k].Name}
		}
		wait := seconds(need / max(rate, trifle))
		if out.Known = true; wait > out.NextBulk {
			out.NextBulk, out.Binding = wait, r.plan.Limits[k].Name
		}
	}
	return out
}

// longestWait is the longest that an estimate says.
const longestWait = 30 * 24 * time.Hour

func seconds(s float64) time.Duration {
	if !(s > 0) {
		return 0
	}
	if s >= longestWait.Seconds() {
		return longestWait
	}
	return time.Duration(s * float64(time.Second))
}

// largestCall is what a lane's largest call takes of each limit: as declared, or as seen of late; nil if neither is known.
func (r *routeCensus) largestCall(i int, now time.Time) []float64 {
	if declared := r.plan.Lanes[i].LargestCallTokens; declared > 0 {
		costs := make([]float64, len(r.plan.Limits))
		for k := range costs {
			switch r.plan.Limits[k].Budget {
			case plan.Requests:
				costs[k] = 1
			case plan.InputTokens, plan.Tokens:
				costs[k] = float64(declared)
			}
		}
		return costs
	}
	if p := &r.largest[i]; len(p.units) > 0 && now.Sub(p.at) <= peakTime {
		return p.units
	}
	return nil
}
