// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/headgate-dev/headgate/api/v1alpha1"
)

// descPods is one series for each policy and state; states are a closed set.
var descPods = prometheus.NewDesc("headgate_pods",
	"Pods by what became of them: matching, injected, governed, reporting, silent, unknown, up_to_date.",
	[]string{"namespace", "policy", "state"}, nil)

// podCounts are the newest counts of every policy, written or not. It has a lock of its own, so that a scrape
// never waits for the API server.
type podCounts struct {
	mu     sync.Mutex
	counts map[string]map[string]v1alpha1.GatewayCounts // by namespace and policy
}

// put replaces what is known of a namespace; nothing drops it.
func (p *podCounts) put(namespace string, counts map[string]v1alpha1.GatewayCounts) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(counts) == 0 {
		delete(p.counts, namespace)
		return
	}
	p.counts[namespace] = counts
}

// Describe implements prometheus.Collector.
func (p *podCounts) Describe(ch chan<- *prometheus.Desc) { ch <- descPods }

// Collect implements prometheus.Collector.
func (p *podCounts) Collect(ch chan<- prometheus.Metric) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for namespace, policies := range p.counts {
		for policy, n := range policies {
			for state, v := range map[string]int32{
				"matching": n.Matching, "injected": n.Injected, "governed": n.Governed,
				"reporting": n.Reporting, "silent": n.Silent, "unknown": n.Unknown, "up_to_date": n.UpToDate,
			} {
				ch <- prometheus.MustNewConstMetric(descPods, prometheus.GaugeValue, float64(v), namespace, policy, state)
			}
		}
	}
}

// Collector is the reconciler's metrics.
func (r *Reconciler) Collector() prometheus.Collector { return r.pods }
