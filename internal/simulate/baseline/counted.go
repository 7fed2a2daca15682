// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package baseline

import (
	"maps"
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/simulate/world"
	"github.com/headgate-dev/headgate/internal/testing/fakeprovider/bucket"
)

// counted is a limit of the policy and what is left of it: of calls in flight slots, of everything else a level.
type counted struct {
	plan.Limit
	level *bucket.Bucket
	slots int64
}

// order is the routes in a fixed order.
func (q *Queue) order() []string { return slices.Sorted(maps.Keys(q.routes)) }

// count begins to count the route's limits at a part of their bursts.
func (l *line) count(limits []plan.Limit, part float64) {
	for _, limit := range limits {
		c := counted{Limit: limit, slots: limit.Amount}
		if limit.Budget != plan.InFlight {
			c.level = newLevel(limit, part*float64(limit.Burst), l.q.w.Now())
		}
		l.limits = append(l.limits, c)
	}
}

func newLevel(l plan.Limit, level float64, now time.Time) *bucket.Bucket {
	return bucket.New(float64(l.Burst), float64(l.Amount)/float64(max(l.WindowSeconds, 1)), level, now)
}

// edit changes a limit's amount, and the burst with it where that was the amount.
func (l *line) edit(limit string, amount int64) {
	now := l.q.w.Now()
	for i := range l.limits {
		c := &l.limits[i]
		if c.Name != limit {
			continue
		}
		if c.Burst == c.Amount {
			c.Burst = amount
		}
		c.slots += amount - c.Amount
		c.Amount = amount
		if c.level != nil {
			c.level = newLevel(c.Limit, c.level.Level(now), now)
		}
	}
}

// expected is the output that is set aside for a call.
func (l *line) expected(call *world.Call) float64 {
	switch {
	case call.MaxTokens > 0 && (l.reserves || l.output > call.MaxTokens):
		return call.MaxTokens
	default:
		return l.output
	}
}

// estimate is what a call is thought to need of a limit before it is sent.
func (c *counted) estimate(call *world.Call, output float64) float64 {
	if len(c.Models) > 0 && !slices.ContainsFunc(c.Models, func(glob string) bool { return plan.Glob(glob, call.Model) }) {
		return 0
	}
	switch c.Budget {
	case plan.Requests:
		return 1
	case plan.InputTokens:
		return call.Estimate
	case plan.OutputTokens:
		return output
	}
	return call.Estimate + output
}

// wait is how long until the call fits; not ok if no time helps.
func (l *line) wait(call *world.Call) (longest time.Duration, ok bool) {
	now, output := l.q.w.Now(), l.expected(call)
	for i := range l.limits {
		c := &l.limits[i]
		if c.level == nil {
			if c.slots <= 0 {
				return 0, false
			}
			continue
		}
		// What is larger than the bucket goes when that is full.
		wait, fits := c.level.Until(now, min(c.estimate(call, output), c.level.Capacity()))
		if !fits {
			return 0, false
		}
		longest = max(longest, wait)
	}
	return longest, true
}

// charge takes what the call is thought to need, or gives it back.
func (l *line) charge(call *world.Call, own *waiter, sign float64) {
	now := l.q.w.Now()
	for i := range l.limits {
		c := &l.limits[i]
		if c.level == nil {
			c.slots -= int64(sign)
			continue
		}
		c.level.Take(now, sign*c.estimate(call, own.output))
	}
}

// settle counts what the answer was billed in place of the estimate.
func (l *line) settle(call *world.Call, own *waiter, u dialect.Usage) {
	now := l.q.w.Now()
	input, output := 0.0, 0.0
	if u.Input >= 0 {
		input = float64(u.Input) - call.Estimate
	}
	if u.Output >= 0 {
		l.answered++
		l.output += (float64(u.Output) - l.output) / float64(l.answered)
		if !l.reserves {
			output = float64(u.Output) - own.output
		}
	}
	for i := range l.limits {
		c := &l.limits[i]
		switch {
		case c.level == nil:
			c.slots++
		case c.estimate(call, 1) == 0:
			// The limit is another model's.
		case c.Budget == plan.InputTokens:
			c.level.Take(now, input)
		case c.Budget == plan.OutputTokens:
			c.level.Take(now, output)
		case c.Budget == plan.Tokens:
			c.level.Take(now, input+output)
		}
	}
}
