// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/gateway/proxy"
	"github.com/headgate-dev/headgate/internal/gateway/tally"
	"github.com/headgate-dev/headgate/internal/wire"
)

// Label names, the same for every metric.
const (
	labelNamespace = "namespace"
	labelPolicy    = "policy"
	labelProvider  = "provider"
	labelLane      = "lane"
	labelLimit     = "limit"
	labelModel     = "model"
	labelKind      = "kind"
	labelClass     = "class"
	labelOutcome   = "outcome"
	labelReason    = "reason"
	labelSource    = "source"
	labelSDK       = "sdk"
	labelTo        = "to"
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	labels = append([]string{labelNamespace, labelPolicy, labelProvider}, labels...)
	return prometheus.NewDesc("headgate_"+name, help, labels, nil)
}

var (
	callsTotal = desc("calls_total", "Calls that ended, by outcome and, for refusals of ours, reason.",
		labelLane, labelOutcome, labelReason)
	offeredTotal = desc("calls_offered_total", "Calls that came.", labelLane)
	wouldTotal   = desc("calls_would_have_total", "In Observe mode, calls that would have waited or been refused.",
		labelLane, labelOutcome)
	responsesTotal = desc("upstream_responses_total", "Responses of the provider by class.", labelClass)
	sendsTotal     = desc("upstream_sends_total", "Calls sent to the provider, repeated ones included.")
	waitSeconds    = desc("wait_seconds", "How long calls waited before a send, by what they waited for.",
		labelLane, labelSource)
	limitRemaining = desc("limit_remaining", "What is left of a limit; below zero it is owed.", labelLimit)
	limitCapacity  = desc("limit_capacity", "The most a limit holds in this gateway.", labelLimit)
	limitOffered   = desc("limit_offered_total", "What calls asked of a limit, refused ones included.", labelLimit)
	limitUsed      = desc("limit_used_total", "What was charged to a limit.", labelLimit)
	effective      = desc("limit_effective", "The part of the provider's rate that is used after refusals; 1 is all.", labelLimit)
	usedElsewhere  = desc("limit_used_elsewhere", "What others are taken to spend on the account in a second, in the limit's unit.", labelLimit)
	disagreement   = desc("limit_disagreement", "How far our count of the provider's budget was above what its answers prove, or below if negative; smoothed.", labelLimit)
	tokensTotal    = desc("tokens_total", "Tokens billed, by model (at most 20, and other) and kind.", labelModel, labelKind)
	queueOldest    = desc("queue_oldest_seconds", "How long the oldest waiting call has waited.", labelLane)
	queueDepth     = desc("queue_depth", "Calls that wait.", labelLane)
	missingTotal   = desc("guidance_missing_total", "Refusals that state no wait, or one that cannot be read.", labelReason)
	attempts       = desc("attempts_per_call", "Sends per call.")
	reserved       = desc("reserved", "What calls under way hold of a limit, in its unit; zero at rest.", labelLimit)
	correction     = desc("input_correction", "The learned factor on the estimate of input tokens; 1 until usage was seen.")
	stackedTotal   = desc("stacked_retries_total", "Calls that are an SDK's own retry of an earlier one, by SDK.", labelSDK)
	estimatedTotal = desc("estimated_settlements_total", "Sends charged by estimate, since nothing was reported.")
	truncatedTotal = desc("truncated_streams_total", "Streams the provider broke off.")
	failovers      = desc("failovers_total", "Calls whose wait was above the ceiling, by the route they failed over to and what came of them there.", labelTo, labelOutcome)
	noDeadline     = desc("invalid_deadlines_total", "Calls whose Headgate-Deadline is no duration, and was not heeded.")
	borrowedTotal  = desc("calls_borrowed_total", "Calls that went by capacity no other lane claimed, beyond their lane's own.", labelLane)
	lanePaused     = desc("lane_paused", "1 while the queues are nearly full and the lane, of a lower priority, takes no more calls.", labelLane)
	notReplayed    = desc("not_replayable_total", "Calls whose body was too large to be sent again.")
)

// Collector collects a gateway's figures.
type Collector struct{ gateway *proxy.Gateway }

var _ prometheus.Collector = (*Collector)(nil)

// NewRegistry returns a registry with the gateway's figures, and how many goroutines there are: the first
// thing to look at where something is stuck. The library's own collectors of the process would link far more.
func NewRegistry(g *proxy.Gateway) *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(&Collector{gateway: g}, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "go_goroutines", Help: "Goroutines that exist.",
	}, func() float64 { return float64(runtime.NumGoroutine()) }))
	return r
}

// Describe implements prometheus.Collector.
func (*Collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		callsTotal, offeredTotal, wouldTotal, responsesTotal, sendsTotal, waitSeconds, limitRemaining,
		limitCapacity, limitOffered, limitUsed, effective, usedElsewhere, disagreement, tokensTotal, queueOldest, queueDepth, missingTotal, attempts,
		reserved, correction, stackedTotal, estimatedTotal, truncatedTotal, notReplayed,
		failovers, noDeadline, borrowedTotal, lanePaused,
		deferredCalls, deferredTotal, degraded, outageSeconds,
	} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(ch chan<- prometheus.Metric) {
	for _, m := range c.gateway.Metrics(time.Now()) {
		e := emitter{ch: ch, labels: []string{m.Namespace, m.Policy, m.Provider}}
		e.route(m.Tally)
		e.deferred(&m.Deferred)
		e.outage(m.Outage)
		e.limits(&m)
		for i, l := range m.Lanes {
			e.lane(l)
			if i < len(m.Figures.Lanes) {
				e.queue(&m.Figures.Lanes[i], l.Name)
			}
		}
	}
}

// emitter sends metrics of one route.
type emitter struct {
	ch     chan<- prometheus.Metric
	labels []string
}

func (e *emitter) with(extra []string) []string {
	return append(e.labels[:len(e.labels):len(e.labels)], extra...)
}

func (e *emitter) counter(d *prometheus.Desc, v float64, extra ...string) {
	e.ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, e.with(extra)...)
}

func (e *emitter) gauge(d *prometheus.Desc, v float64, extra ...string) {
	e.ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, e.with(extra)...)
}

func (e *emitter) route(t *tally.Route) {
	e.counter(sendsTotal, float64(t.Sends.Load()))
	e.counter(estimatedTotal, float64(t.EstimatedSettlements.Load()))
	e.counter(truncatedTotal, float64(t.TruncatedStreams.Load()))
	e.counter(notReplayed, float64(t.NotReplayable.Load()))
	e.counter(noDeadline, float64(t.InvalidDeadlines.Load()))
	for f, n := range t.Failovers() {
		e.counter(failovers, float64(n), f.To, f.Outcome)
	}
	for class, n := range map[string]uint64{
		"success": t.Successes.Load(), "throttle": t.TooManyRequests.Load(), "overload": t.Overloads.Load(),
		"quota_exhausted": t.QuotaExhausted.Load(), "transient": t.TransientErrors.Load(),
		"permanent": t.PermanentErrors.Load(),
	} {
		e.counter(responsesTotal, float64(n), class)
	}
	for sdk, n := range t.StackedBySDK() {
		e.counter(stackedTotal, float64(n), sdk)
	}
	for reason, n := range t.MissingByReason() {
		e.counter(missingTotal, float64(n), reason)
	}
	for model, tokens := range t.TokensByModel() {
		e.counter(tokensTotal, float64(tokens.Input), model, "input")
		e.counter(tokensTotal, float64(tokens.Output), model, "output")
		e.counter(tokensTotal, float64(tokens.CachedRead), model, "cached_read")
		e.counter(tokensTotal, float64(tokens.CacheWrite), model, "cache_write")
	}
	e.attempts(t.Attempts())
}

func (e *emitter) attempts(counts []uint64) {
	buckets := map[float64]uint64{}
	var n uint64
	sum := 0.0
	for sends, count := range counts {
		n += count
		sum += float64(sends) * float64(count)
		if sends > 0 && sends < len(counts)-1 {
			buckets[float64(sends)] = n
		}
	}
	e.ch <- prometheus.MustNewConstHistogram(attempts, n, sum, buckets, e.labels...)
}

func (e *emitter) limits(m *proxy.Metrics) {
	e.gauge(correction, m.Figures.InputCorrection)
	for i := range m.Figures.Limits {
		l := &m.Figures.Limits[i]
		e.gauge(limitRemaining, l.Level, l.Name)
		e.gauge(limitCapacity, l.Capacity, l.Name)
		e.gauge(reserved, l.Reserved, l.Name)
		e.counter(limitOffered, l.Offered, l.Name)
		e.counter(limitUsed, l.Spent, l.Name)
		e.gauge(effective, l.Effective, l.Name)
		e.gauge(usedElsewhere, l.Outsiders, l.Name)
		e.gauge(disagreement, l.Disagreement, l.Name)
	}
}

func (e *emitter) queue(l *budget.LaneSnapshot, name string) {
	e.gauge(queueOldest, l.OldestWait.Seconds(), name)
	e.gauge(queueDepth, float64(l.Queued), name)
	e.counter(borrowedTotal, float64(l.Borrowed), name)
	paused := 0.0
	if l.Paused {
		paused = 1
	}
	e.gauge(lanePaused, paused, name)
}

func (e *emitter) lane(l *tally.Lane) {
	counts := l.Counts()
	e.counter(offeredTotal, float64(counts.Offered), l.Name)
	e.counter(wouldTotal, float64(counts.WouldHaveWaited), l.Name, "waited")
	e.counter(wouldTotal, float64(counts.WouldHaveRefused), l.Name, "refused")
	for ended, n := range counts.Ended {
		e.counter(callsTotal, float64(n), l.Name, ended.Outcome, ended.Reason)
	}
	for source, w := range l.WaitsBySource() {
		buckets := map[float64]uint64{}
		var n uint64
		for i, count := range w.Counts {
			n += count
			if i < len(wire.WaitBoundsMillis) {
				buckets[float64(wire.WaitBoundsMillis[i])/1000] = n
			}
		}
		e.ch <- prometheus.MustNewConstHistogram(waitSeconds, n, w.Total.Seconds(), buckets, e.with([]string{l.Name, source})...)
	}
}
