// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"math"

	"github.com/headgate-dev/headgate/internal/simulate/result"
)

// Findings are what only a client knows.
type Findings struct {
	Gateways result.Gateways
	// Lanes by route and lane.
	Lanes map[string]map[string]*result.Lane
}

// measureAt begins the measurement at the end of the warmup.
func (w *World) measureAt() {
	w.clock.At(w.begin, func() {
		for _, s := range w.order {
			s.referee.Measure(w.begin)
			s.figures = result.Provider{}
			s.recent = s.recent[:0]
		}
	})
}

func (w *World) result(seed uint64) *result.Result {
	r := &result.Result{
		Workload: w.wl.Name, Policy: w.policy.Name, Seed: seed,
		DurationSeconds: w.wl.Duration.Seconds(), WarmupSeconds: w.wl.Warmup.Seconds(),
		Streams: map[string]*result.Stream{}, Provider: map[string]*result.Provider{}, Tenants: map[string]*result.Tenant{},
		Gateways: result.Gateways{Count: w.gateways},
	}
	found := Findings{Gateways: r.Gateways, Lanes: map[string]map[string]*result.Lane{}}
	w.governed(func(g Governed) { g.Finish(&found) })
	r.Gateways = found.Gateways
	for _, s := range w.streams {
		r.Streams[s.Name] = s.finish()
		addTo(r.Tenants, s)
	}
	for _, s := range w.order {
		r.Provider[s.cfg.Route] = s.finish(found.Lanes[s.cfg.Route])
	}
	r.Series = w.curves.series
	return r
}

// finish is the stream's part of the result.
func (s *stream) finish() *result.Stream {
	out := s.result
	s.waits.sort()
	s.declines.sort()
	out.Wait, out.Decline, out.Waits = s.waits.quantiles(), s.declines.quantiles(), s.waits.bins()
	return &out
}

func (s *samples) quantiles() result.Quantiles {
	return result.Quantiles{P50: s.quantile(0.5), P99: s.quantile(0.99), Max: s.quantile(1)}
}

// bins counts in steps of 1, 2 and 5 from a millisecond on.
func (s *samples) bins() (out []result.Bin) {
	next := 0
	for exponent := -3; exponent <= 5 && next < len(s.all); exponent++ {
		for _, step := range [...]float64{1, 2, 5} {
			upTo := step * math.Pow10(exponent)
			count := 0
			for next < len(s.all) && s.all[next] <= upTo {
				next++
				count++
			}
			out = append(out, result.Bin{UpTo: upTo, Count: count})
		}
	}
	return out
}

// finish is the provider's part of the result.
func (s *site) finish(lanes map[string]*result.Lane) *result.Provider {
	out := s.figures
	out.Budgets = s.referee.Budgets(s.w.Now())
	if len(lanes) == 0 {
		return &out
	}
	out.Lanes = lanes
	for _, own := range s.private.lanes {
		lane := lanes[own.name]
		if lane == nil {
			continue
		}
		lane.Share, lane.LargestSeconds, lane.LatenessMax = own.share, own.largest, own.late
	}
	return &out
}

// addTo adds the stream to its tenant.
func addTo(tenants map[string]*result.Tenant, s *stream) {
	if s.Tenant == "" {
		return
	}
	t := tenants[s.Tenant]
	if t == nil {
		t = &result.Tenant{Counts: newCounts(), Used: map[string]float64{}}
		tenants[s.Tenant] = t
	}
	from := &s.result
	t.Offered += from.Offered
	t.Succeeded += from.Succeeded
	t.Deferred += from.Deferred
	t.Unfinished += from.Unfinished
	t.Attempts += from.Attempts
	for reason, n := range from.Declined {
		t.Declined[reason] += n
	}
	for reason, n := range from.Failed {
		t.Failed[reason] += n
	}
	for budget, used := range s.used {
		t.Used[budget] += used
	}
}
