// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"slices"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/gateway/sharing"
	"github.com/headgate-dev/headgate/internal/gateway/tally"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/wire"
)

// Revision is the plan in force.
func (g *Gateway) Revision() int64 { return g.table.Load().revision }

// Snapshot returns the cumulative figures of every governed route. reset starts the worst waits anew: the
// reports pass true, whoever else looks false.
func (g *Gateway) Snapshot(now time.Time, reset bool) []*wire.RouteReport {
	var out []*wire.RouteReport
	for _, cfg := range g.configs() {
		if cfg.policy != "" && len(out) < wire.MaxRoutes {
			r := cfg.report(now, reset)
			g.addDeferred(r)
			out = append(out, r)
		}
	}
	return out
}

// configs returns every route once, whatever names it has, in a fixed order.
func (g *Gateway) configs() []*config { return g.table.Load().order }

func (cfg *config) report(now time.Time, reset bool) *wire.RouteReport {
	t := cfg.tally
	state := cfg.state(now)
	figures := cfg.gate.Figures(now)
	r := &wire.RouteReport{
		Policy: cfg.policy, Provider: cfg.plan.Name, Generation: cfg.generation,
		Calls: t.Calls.Load(), Sends: t.Sends.Load(), TooManyRequests: t.TooManyRequests.Load(),
		Overloads: t.Overloads.Load(), Unguided: t.Unguided.Load(), TransientErrors: t.TransientErrors.Load(),
		PermanentErrors: t.PermanentErrors.Load(), QuotaExhausted: t.QuotaExhausted.Load(),
		TooLarge: t.TooLarge.Load(), LargestTooLarge: t.LargestTooLarge.Load(),
		EstimatedSettlements: t.EstimatedSettlements.Load(), TruncatedStreams: t.TruncatedStreams.Load(),
		State: state.name, StateMessage: state.message, StateCode: state.code,
		LastCallUnixMillis: uint64(max(t.LastCallUnixMillis.Load(), 0)), StackedBySdk: t.StackedBySDK(),
		FailedOver: t.FailedOver.Load(),
	}
	if !state.until.IsZero() {
		r.QuotaResetUnixMillis = state.until.UnixMilli()
	}
	for _, n := range r.StackedBySdk {
		r.StackedRetries += n
	}
	for i := range figures.Limits {
		r.Limits = append(r.Limits, limitReport(&figures.Limits[i]))
	}
	for i, l := range cfg.lanes {
		report := laneReport(l, &figures, i, reset)
		if i < len(figures.Lanes) {
			report.Fullness = fullness(&figures.Lanes[i], &cfg.plan.Lanes[i])
		}
		r.Lanes = append(r.Lanes, report)
	}
	for model, tokens := range t.TokensByModel() {
		r.Models = append(r.Models, &wire.ModelTokens{
			Model: model, Input: tokens.Input, Output: tokens.Output, CachedRead: tokens.CachedRead, CacheWrite: tokens.CacheWrite,
		})
	}
	slices.SortFunc(r.Models, func(a, b *wire.ModelTokens) int { return strings.Compare(a.GetModel(), b.GetModel()) })
	return r
}

// takenIn is the outcome of a call that was answered 202, among those that DeferredCounts counts.
const takenIn = "accepted"

func (g *Gateway) addDeferred(r *wire.RouteReport) {
	if g.opts.Deferrals == nil {
		return
	}
	counts := g.opts.Deferrals.Counts(r.GetPolicy(), r.GetProvider())
	r.Deferred, r.DeferredWaiting, r.DeadLetters = counts.Outcomes[takenIn], counts.Waiting, counts.DeadLetters
}

func limitReport(l *admission.LimitFigures) *wire.LimitReport {
	return &wire.LimitReport{
		Name: l.Name, Level: l.Level, Capacity: l.Capacity, HeldForLanes: l.HeldForLanes, Spent: l.Spent,
		Offered: l.Offered, Reserved: l.Reserved, Binding: l.Binding, ProviderRemaining: l.ProviderRemaining,
		ProviderLimit: l.ProviderLimit, ProviderKnown: l.ProviderKnown, ProviderBinding: l.ProviderBinding,
		Effective: l.Effective, OutsidersPerSecond: l.Outsiders,
	}
}

// fullness is how much of a lane's queue is taken, by calls or by bytes, whichever is more.
func fullness(now *budget.LaneSnapshot, declared *plan.Lane) float64 {
	var full float64
	if now.MaxDepth > 0 {
		full = float64(now.Queued) / float64(now.MaxDepth)
	}
	if declared.MaxBytes > 0 {
		full = max(full, float64(now.Bytes)/float64(declared.MaxBytes))
	}
	return min(full, 1)
}

func laneReport(l *tally.Lane, figures *admission.Figures, i int, reset bool) *wire.LaneReport {
	counts := l.Counts()
	r := &wire.LaneReport{
		Name: l.Name, Offered: counts.Offered, Sent: counts.Sent, Refused: counts.Refused,
		WaitBuckets: counts.Waits.Counts[:], WouldHaveRefused: counts.WouldHaveRefused,
		LargestCallTokens: counts.LargestCall, Cancelled: counts.Cancelled,
		WaitTotalMillis: uint64(counts.Waits.Total.Milliseconds()),
	}
	if i < len(figures.Lanes) {
		r.Queued = uint64(figures.Lanes[i].Queued)
		r.OldestWaitMillis = uint64(figures.Lanes[i].OldestWait.Milliseconds())
	}
	if reset {
		r.WorstWaitMillis = uint64(l.TakeWorst().Milliseconds())
	}
	return r
}

// Metrics are one route's figures for the metrics endpoint.
type Metrics struct {
	Namespace, Policy, Provider string
	Tally                       *tally.Route
	Lanes                       []*tally.Lane
	Figures                     admission.Figures
	Deferred                    DeferredCounts
	// Outage is how the route is as far as the coordinator goes, nil where that is not asked.
	Outage *sharing.Outage
}

// maxMetrics bounds the routes of the metrics endpoint.
const maxMetrics = 2 * wire.MaxRoutes

// Metrics returns the figures of every route. Of those without a policy, which are one for each dialect, only the ones
// that calls were made to are there.
func (g *Gateway) Metrics(now time.Time) []Metrics {
	var out []Metrics
	for _, cfg := range g.configs() {
		if len(out) >= maxMetrics {
			break
		}
		if cfg.policy == "" && !cfg.tally.Used() {
			continue
		}
		m := Metrics{
			Namespace: g.opts.Namespace, Policy: cfg.policy, Provider: cfg.plan.Name, Tally: cfg.tally,
			Lanes: cfg.lanes, Figures: cfg.gate.Figures(now), Deferred: g.deferredOf(cfg),
		}
		if cfg.member != nil {
			outage := cfg.member.Outage(now)
			m.Outage = &outage
		}
		out = append(out, m)
	}
	return out
}
