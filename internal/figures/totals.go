// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/wire"
)

// PolicyTotals are one policy's counts since this store's start, and its levels now: what metrics show.
type PolicyTotals struct {
	Namespace string
	Policy    string
	Providers []ProviderTotals
}

// ProviderTotals are one provider's.
type ProviderTotals struct {
	Name                                               string
	Calls, Sends, TooManyRequests, Overloads, Unguided float64
	Transient, Permanent, QuotaExhausted, TooLarge     float64
	// StackedBy counts an SDK's own retries, by SDK.
	StackedBy                              map[string]float64
	EstimatedSettlements, TruncatedStreams float64
	Limits                                 []LimitTotals
	Lanes                                  []LaneTotals
	Models                                 []ModelTotals
}

// LimitTotals are one limit's.
type LimitTotals struct {
	Name                     string
	Offered, Used, Remaining float64
}

// LaneTotals are one lane's.
type LaneTotals struct {
	Name            string
	Sent, Cancelled float64
	RefusedBy       map[string]float64
	QueuedOldest    time.Duration
	Queued          int64
	// Waits counts the calls sent by wait, a bucket each, the last one above every bound.
	Waits     []float64
	WaitTotal time.Duration
}

// ModelTotals are the tokens of one model.
type ModelTotals struct {
	Model                                 string
	Input, Output, CachedRead, CacheWrite float64
}

// Totals returns the totals of every policy, by namespace and name.
func (s *Store) Totals(now time.Time) []PolicyTotals {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []PolicyTotals
	for name, ns := range s.namespaces {
		for policy, agg := range ns.policies {
			r := reader{now: now, ns: ns, policy: policy, agg: agg}
			r.findLive()
			list = append(list, PolicyTotals{Namespace: name, Policy: policy, Providers: r.totals()})
		}
	}
	slices.SortFunc(list, func(a, b PolicyTotals) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Policy, b.Policy))
	})
	return list
}

func (r *reader) totals() []ProviderTotals {
	var list []ProviderTotals
	for _, name := range slices.Sorted(maps.Keys(r.agg.providers)) {
		p := r.agg.providers[name]
		c := func(i int) float64 { return p.counts[i].total }
		t := ProviderTotals{
			Name:  name,
			Calls: c(calls), Sends: c(sends), TooManyRequests: c(tooMany), Overloads: c(overloads),
			Unguided: c(unguided), Transient: c(transient), Permanent: c(permanent),
			QuotaExhausted: c(quota), TooLarge: c(tooLarge), StackedBy: map[string]float64{},
			EstimatedSettlements: c(estimated), TruncatedStreams: c(truncated),
		}
		for i, sdk := range wire.SDKs {
			if n := c(stackedBy + i); n > 0 {
				t.StackedBy[sdk] = n
			}
		}
		routes := r.routes(name)
		for _, limit := range slices.Sorted(maps.Keys(p.limits)) {
			t.Limits = append(t.Limits, p.limits[limit].totals(limit, routes))
		}
		for _, lane := range slices.Sorted(maps.Keys(p.lanes)) {
			t.Lanes = append(t.Lanes, p.lanes[lane].totals(lane, routes))
		}
		for _, model := range slices.Sorted(maps.Keys(p.models)) {
			m := p.models[model]
			t.Models = append(t.Models, ModelTotals{
				Model: model, Input: m[modelInput], Output: m[modelOutput],
				CachedRead: m[modelCachedRead], CacheWrite: m[modelCacheWrite],
			})
		}
		list = append(list, t)
	}
	return list
}

func (l *limit) totals(name string, routes []*route) LimitTotals {
	var now LimitFigures
	now.levels(name, routes, time.Time{}) // totals say nothing of what the provider told of late
	return LimitTotals{Name: name, Offered: l.offered.total, Used: l.used.total, Remaining: now.Remaining}
}

func (l *lane) totals(name string, routes []*route) LaneTotals {
	var now LaneFigures
	now.levels(name, routes)
	t := LaneTotals{
		Name: name, Sent: l.counts[laneSent].total, Cancelled: l.counts[laneCancelled].total,
		RefusedBy: map[string]float64{}, Queued: now.Queued, QueuedOldest: now.QueuedOldest,
		WaitTotal: millis(uint64(amount(l.counts[laneWaitMillis].total))),
	}
	for i, reason := range reasons {
		if n := l.counts[laneRefusals+i].total; n > 0 {
			t.RefusedBy[reason] = n
		}
	}
	for i := range numWaits {
		t.Waits = append(t.Waits, l.counts[laneWaits+i].total)
	}
	return t
}
