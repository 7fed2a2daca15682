// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/headgate-dev/headgate/internal/figures"
	"github.com/headgate-dev/headgate/internal/wire"
)

// Label names.
const (
	labelNamespace = "namespace"
	labelPolicy    = "policy"
	labelProvider  = "provider"
	labelLimit     = "limit"
	labelLane      = "lane"
)

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, append([]string{labelNamespace, labelPolicy, labelProvider}, labels...), nil)
}

// What all gateways of a policy did, since this replica leads. Names of namespaces, policies, providers,
// limits and lanes come from plans; all other labels are closed sets or bounded.
var (
	descCalls     = describe("headgate_calls_total", "Calls by what became of them: sent, refused by the policy, cancelled while queued.", labelLane, "outcome", "reason")
	descSends     = describe("headgate_upstream_sends_total", "Requests that left for the provider, retries included.")
	descResponses = describe("headgate_upstream_responses_total", "The provider's answers that are not successes, by class.", "class")
	descWaits     = describe("headgate_wait_seconds", "Waits of the calls sent.", labelLane)
	descOldest    = describe("headgate_queue_oldest_seconds", "How long the oldest queued call has waited.", labelLane)
	descQueued    = describe("headgate_queue_depth", "Calls queued now.", labelLane)
	descRemaining = describe("headgate_limit_remaining", "What could go now, in the limit's unit; negative is debt.", labelLimit)
	descOffered   = describe("headgate_limit_offered_total", "What the apps asked for, in the limit's unit.", labelLimit)
	descUsed      = describe("headgate_limit_used_total", "What was used, in the limit's unit.", labelLimit)
	descTokens    = describe("headgate_tokens_total", "Tokens billed, by model and kind.", "model", "kind")
	descUnguided  = describe("headgate_guidance_missing_total", "429s that stated no wait.")
	descStacked   = describe("headgate_stacked_retries_total", "Calls that are an SDK's own retry of an earlier one, by SDK.", "sdk")
	descEstimated = describe("headgate_estimated_settlements_total", "Sends charged by estimate, since nothing was reported.")
	descTruncated = describe("headgate_truncated_streams_total", "Streams the provider broke off.")
	descTooLarge  = describe("headgate_calls_too_large_total", "Calls no limit could ever fit.")

	descGateways = prometheus.NewDesc("headgate_gateways", "Gateways known to this replica, by whether they may spend what they are granted or are silent, and on their safe share, and by version.", []string{"mode", "version"}, nil)
	descReports  = prometheus.NewDesc("headgate_coordinator_reports_total", "Reports taken in.", nil, nil)
	descForeign  = prometheus.NewDesc("headgate_coordinator_foreign_routes_total", "Routes reported that the namespace's plan does not have.", nil, nil)
)

// Describe implements prometheus.Collector.
func (s *Server) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		descCalls, descSends, descResponses, descWaits, descOldest, descQueued, descRemaining, descOffered, descUsed,
		descTokens, descUnguided, descStacked, descEstimated, descTruncated, descTooLarge, descGateways, descReports,
		descForeign,
	} {
		ch <- d
	}
	for _, d := range budgetDescs {
		ch <- d
	}
}

// Collect implements prometheus.Collector. A replica that does not lead knows nothing of policies.
func (s *Server) Collect(ch chan<- prometheus.Metric) {
	leads := s.collectOwn(ch)
	s.budgets.collect(ch, leads)
	if !leads {
		return
	}
	for _, t := range s.opts.Figures.Totals(time.Now()) {
		for _, p := range t.Providers {
			c := collection{ch: ch, labels: []string{t.Namespace, t.Policy, p.Name}}
			c.provider(p)
			for _, l := range p.Limits {
				c.limit(l)
			}
			for _, l := range p.Lanes {
				c.lane(l)
			}
			for _, m := range p.Models {
				c.model(m)
			}
		}
	}
}

func (s *Server) collectOwn(ch chan<- prometheus.Metric) (leads bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	type mode struct{ mode, version string }
	gateways := map[mode]int{}
	for _, sp := range s.spaces {
		for _, m := range sp.members {
			on := mode{"share", m.version}
			if !m.reporting(time.Now()) {
				on.mode = "safe"
			}
			gateways[on]++
		}
	}
	for on, n := range gateways {
		ch <- prometheus.MustNewConstMetric(descGateways, prometheus.GaugeValue, float64(n), on.mode, on.version)
	}
	ch <- prometheus.MustNewConstMetric(descReports, prometheus.CounterValue, float64(s.stats.reports))
	ch <- prometheus.MustNewConstMetric(descForeign, prometheus.CounterValue, float64(s.stats.foreign))
	return s.lead.self
}

// collection sends the metrics of one provider.
type collection struct {
	ch     chan<- prometheus.Metric
	labels []string
}

func (c collection) send(d *prometheus.Desc, kind prometheus.ValueType, v float64, labels ...string) {
	c.ch <- prometheus.MustNewConstMetric(d, kind, v, append(slices.Clip(c.labels), labels...)...)
}

func (c collection) count(d *prometheus.Desc, v float64, labels ...string) {
	c.send(d, prometheus.CounterValue, v, labels...)
}

func (c collection) provider(p figures.ProviderTotals) {
	c.count(descSends, p.Sends)
	c.count(descResponses, p.TooManyRequests, "throttle")
	c.count(descResponses, p.Overloads, "overload")
	c.count(descResponses, p.QuotaExhausted, "quota_exhausted")
	c.count(descResponses, p.Transient, "transient")
	c.count(descResponses, p.Permanent, "permanent")
	c.count(descUnguided, p.Unguided)
	for sdk, n := range p.StackedBy {
		c.count(descStacked, n, sdk)
	}
	c.count(descEstimated, p.EstimatedSettlements)
	c.count(descTruncated, p.TruncatedStreams)
	c.count(descTooLarge, p.TooLarge)
}

func (c collection) limit(l figures.LimitTotals) {
	c.send(descRemaining, prometheus.GaugeValue, l.Remaining, l.Name)
	c.count(descOffered, l.Offered, l.Name)
	c.count(descUsed, l.Used, l.Name)
}

func (c collection) lane(l figures.LaneTotals) {
	c.count(descCalls, l.Sent, l.Name, "sent", "")
	c.count(descCalls, l.Cancelled, l.Name, "cancelled", "")
	for reason, n := range l.RefusedBy {
		c.count(descCalls, n, l.Name, "refused", reason)
	}
	c.send(descOldest, prometheus.GaugeValue, l.QueuedOldest.Seconds(), l.Name)
	c.send(descQueued, prometheus.GaugeValue, float64(l.Queued), l.Name)
	buckets, all := map[float64]uint64{}, uint64(0)
	for i, n := range l.Waits {
		all += uint64(n)
		if i < len(wire.WaitBoundsMillis) {
			buckets[float64(wire.WaitBoundsMillis[i])/1000] = all
		}
	}
	c.ch <- prometheus.MustNewConstHistogram(descWaits, all, l.WaitTotal.Seconds(), buckets, append(c.labels[:3:3], l.Name)...)
}

func (c collection) model(m figures.ModelTotals) {
	for kind, v := range map[string]float64{
		"input": m.Input, "output": m.Output, "cached_read": m.CachedRead, "cache_write": m.CacheWrite,
	} {
		c.count(descTokens, v, m.Model, kind)
	}
}
