// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"math"
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/plan"
)

// limit is one declared limit and its bucket.
type limit struct {
	plan.Limit

	id budget.BucketID
	// share is what this gateway has of it, nil for a lone one; safe says that it is the safe share.
	share *Share
	safe  bool
}

// matches says whether the limit counts calls to model.
func (l *limit) matches(model string) bool {
	return len(l.Models) == 0 || slices.ContainsFunc(l.Models, func(glob string) bool { return plan.Glob(glob, model) })
}

// Share is what this gateway may use of one limit.
type Share struct {
	RatePerSecond float64
	Capacity      float64
	// Fed: the level rises by Gate.Feed alone, and the rate is what is expected to come.
	Fed bool
	// Safe says that it is all there is without a coordinator; who is refused by it is told so.
	Safe bool
	// Waited: calls wait for it though its window is a cap's, for more of it may be granted at once.
	Waited bool
}

// smallCall is the burst of a safe share: what one small call of each budget takes.
var smallCall = map[string]float64{
	plan.Requests: 1, plan.InFlight: 1, plan.InputTokens: 2000, plan.OutputTokens: 1000, plan.Tokens: 3000,
}

// safeShare is what a gateway that hears from no coordinator takes: half of the rate divided by the most
// gateways there may be, so that all of them together stay below the limit.
func safeShare(l plan.Limit, maxGateways int32) Share {
	n := float64(max(maxGateways, 1))
	s := Share{Capacity: min(float64(l.Burst), smallCall[l.Budget])}
	if l.Budget == plan.InFlight {
		s.Capacity = math.Max(min(1, float64(l.Amount)), math.Floor(float64(l.Amount)/(2*n)))
		return s
	}
	s.RatePerSecond = rate(l) / (2 * n)
	return s
}

func rate(l plan.Limit) float64 {
	if l.WindowSeconds <= 0 {
		return 0
	}
	return float64(l.Amount) / float64(l.WindowSeconds)
}

// formerLocked are by its name what each limit was before an edit, if it was there: what counted the same by the same window,
// whatever it was called, for an edit must not make a full one of it; else the one of that name. What gateways share goes by
// names. mu is held.
func (g *Gate) formerLocked() map[string]*limit {
	former, left := map[string]*limit{}, slices.Clone(g.limits)
	for _, same := range []func(o *limit, l plan.Limit) bool{
		func(o *limit, l plan.Limit) bool { return o.Name == l.Name && (g.shared || alike(o.Limit, l)) },
		func(o *limit, l plan.Limit) bool { return !g.shared && alike(o.Limit, l) },
		func(o *limit, l plan.Limit) bool { return o.Name == l.Name },
	} {
		for _, l := range g.route.Limits {
			k := slices.IndexFunc(left, func(o *limit) bool { return same(o, l) })
			if former[l.Name] == nil && k >= 0 {
				former[l.Name] = left[k]
				left = slices.Delete(left, k, k+1)
			}
		}
	}
	return former
}

func alike(a, b plan.Limit) bool {
	return a.Budget == b.Budget && a.WindowSeconds == b.WindowSeconds && slices.Equal(a.Models, b.Models)
}

func bucketName(limit string) string { return "limit/" + limit }

// bucket is the limit's bucket; share is nil for a lone gateway, which has the whole limit.
func bucket(l plan.Limit, share *Share) budget.Bucket {
	b := budget.Bucket{
		Name: bucketName(l.Name), Rate: rate(l), Capacity: float64(l.Burst), Limit: float64(l.Burst),
		Window: time.Duration(l.WindowSeconds) * time.Second, StartEmpty: share != nil,
	}
	if l.Budget == plan.InFlight {
		b.Kind, b.Rate, b.Capacity, b.StartEmpty = budget.Slots, 0, float64(l.Amount), false
		b.Limit = b.Capacity
	}
	if share == nil {
		// What is granted of a shared one is counted by its name.
		b.Unit = l.Budget
	} else {
		b.Rate, b.Capacity = min(b.Rate, share.RatePerSecond), min(b.Capacity, share.Capacity)
		b.Fed = share.Fed && b.Kind == budget.Continuous
		if share.Waited {
			b.Rate, b.Window = share.RatePerSecond, 0
		}
	}
	return b
}
