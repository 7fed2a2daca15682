// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"slices"
	"time"

	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/simulate/clock"
	"github.com/headgate-dev/headgate/internal/simulate/workload"
)

const (
	// mirrored is the part of the provider's rate at which Headgate lets its mirror refill.
	mirrored = 0.998
	// longestQueued is the window from which on a limit refuses and does not queue: it promises no wait.
	longestQueued = time.Hour
	// holdSeconds and holdPart are what an idle lane keeps unless its policy says otherwise.
	holdSeconds, holdPart = 10.0, 0.5
)

// private is what each lane of a route was promised: buckets of its own, which nobody else uses.
type private struct{ lanes []*own }

// own is one lane's buckets. Its calls are compared in the order in which they left.
type own struct {
	name    string
	share   float64
	buckets []ownBucket
	// at is when the call before left its own buckets.
	at time.Time
	// largest is the longest that a call of the lane needs from empty, late the latest that one was.
	largest, late float64
}

// ownBucket is a lane's part of one limit.
type ownBucket struct {
	budget     string
	models     []string
	maxCharged bool
	rate, hold float64
	level      float64
}

func newPrivate(route *plan.Route, p *workload.Provider) *private {
	out := &private{}
	for i := range route.Lanes {
		out.lanes = append(out.lanes, &own{name: route.Lanes[i].Name, at: clock.Start})
	}
	out.configure(route, p)
	return out
}

// configure takes the rates from the policy's limits and, where the provider's are in the way, from those.
func (p *private) configure(route *plan.Route, provider *workload.Provider) {
	maxCharged := provider.Charges == string(facts.MaxAtAdmission)
	if f, ok := facts.ByName(route.Dialect); ok && provider.Charges == "" {
		maxCharged = f.Charges == facts.MaxAtAdmission
	}
	for i, lane := range p.lanes {
		l := &route.Lanes[i]
		lane.share = float64(l.SharePermille) / 1000
		old := lane.buckets
		lane.buckets = nil
		for j := range route.Limits {
			limit := &route.Limits[j]
			if limit.Budget == plan.InFlight || limit.WindowSeconds <= 0 || time.Duration(limit.WindowSeconds)*time.Second >= longestQueued {
				continue
			}
			b := ownBucket{budget: limit.Budget, models: limit.Models, maxCharged: maxCharged}
			b.set(l, lane.share, float64(limit.Amount)/float64(limit.WindowSeconds), float64(limit.Burst))
			lane.buckets = append(lane.buckets, b)
		}
		for _, limit := range provider.Limits {
			if limit.Budget == plan.InFlight || limit.Window >= longestQueued {
				continue
			}
			b := ownBucket{budget: limit.Budget, maxCharged: maxCharged}
			b.set(l, lane.share, mirrored*limit.Amount/limit.Window.Seconds(), limit.Burst)
			lane.buckets = append(lane.buckets, b)
		}
		for k := range old {
			lane.buckets[k].level = min(old[k].level, lane.buckets[k].hold)
		}
	}
}

func (b *ownBucket) set(l *plan.Lane, share, rate, capacity float64) {
	b.rate = share * rate
	b.hold = min(share*capacity*holdPart, holdSeconds*b.rate)
	if l.HoldMillis != nil {
		b.hold = min(share*capacity, float64(*l.HoldMillis)/1000*b.rate)
	}
}

// cost is what the call takes; 0 where the limit does not count it.
func (b *ownBucket) cost(c *Call) float64 {
	if len(b.models) > 0 && !slices.ContainsFunc(b.models, func(glob string) bool { return plan.Glob(glob, c.Model) }) {
		return 0
	}
	output := c.Output
	if b.maxCharged && c.MaxTokens > 0 {
		output = c.MaxTokens
	}
	switch b.budget {
	case plan.Requests:
		return 1
	case plan.InputTokens:
		return max(c.Input, c.Estimate)
	case plan.OutputTokens:
		return output
	}
	return max(c.Input, c.Estimate) + output
}

// left says how many seconds later the call left than it would have from the lane's own buckets.
func (p *private) left(lane int, c *Call, sent time.Time) float64 {
	l := p.lanes[lane]
	if l.share <= 0 {
		return 0 // it only borrows, and is promised nothing
	}
	start := l.at
	if c.Arrival.After(start) {
		start = c.Arrival
	}
	idle := start.Sub(l.at).Seconds()
	wait := 0.0
	for i := range l.buckets {
		b := &l.buckets[i]
		b.level = max(b.level, min(b.hold, b.level+b.rate*idle))
		cost := b.cost(c)
		if cost <= 0 {
			continue
		}
		if b.rate <= 0 {
			return 0
		}
		wait = max(wait, (cost-b.level)/b.rate)
		l.largest = max(l.largest, cost/b.rate)
	}
	for i := range l.buckets {
		b := &l.buckets[i]
		cost := b.cost(c)
		b.level = max(b.level, min(max(b.hold, cost), b.level+b.rate*wait)) - cost
	}
	l.at = start.Add(time.Duration(wait * float64(time.Second)))
	late := max(0, sent.Sub(l.at).Seconds())
	l.late = max(l.late, late)
	return late
}
