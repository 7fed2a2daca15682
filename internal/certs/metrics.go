// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

var expiryDesc = prometheus.NewDesc(
	"headgate_certificate_expiry_seconds",
	"Seconds until the certificate expires: this replica's serving certificate, or its authority.",
	[]string{"certificate"}, nil,
)

// Describe is part of prometheus.Collector.
func (s *Source) Describe(ch chan<- *prometheus.Desc) { ch <- expiryDesc }

// Collect is part of prometheus.Collector. There is no sample before there is a certificate.
func (s *Source) Collect(ch chan<- prometheus.Metric) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.leaf == nil {
		return
	}
	now := s.opts.Now()
	for name, until := range map[string]time.Time{"leaf": s.leaf.Leaf.NotAfter, "ca": s.signer.cert.NotAfter} {
		ch <- prometheus.MustNewConstMetric(expiryDesc, prometheus.GaugeValue, until.Sub(now).Seconds(), name)
	}
}
