// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package loop

import (
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/headgate-dev/headgate/internal/budgetstore"
)

// The results of draws that are counted.
const (
	made    = "ok"
	refused = "refused"
	failed  = "failed"
)

// state is what others see of a loop. It is safe for concurrent use.
type state struct {
	draws   *prometheus.CounterVec
	seconds prometheus.Histogram
	up      prometheus.Gauge

	mu    sync.Mutex
	lost  bool
	since time.Time
	// last is why the newest draw failed.
	last error
}

func newState() *state {
	s := &state{
		draws: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "headgate_budget_store_draws_total", Help: "Draws on the budget store, by result.",
		}, []string{"result"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "headgate_budget_store_draw_seconds", Help: "How long a batch of draws on the budget store took.",
			Buckets: []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1},
		}),
		up: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "headgate_budget_store_up", Help: "1 while the budget store grants, 0 while pools live on their shares without it, or nothing is drawn.",
		}),
	}
	for _, result := range []string{made, refused, failed} {
		s.draws.WithLabelValues(result)
	}
	return s
}

// count notes what became of a batch.
func (s *state) count(results []budgetstore.Result, took time.Duration) {
	s.seconds.Observe(took.Seconds())
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range results {
		switch {
		case r.Err == nil:
			s.draws.WithLabelValues(made).Inc()
			s.last = nil
			continue
		case errors.Is(r.Err, budgetstore.ErrRefused):
			s.draws.WithLabelValues(refused).Inc()
		default:
			s.draws.WithLabelValues(failed).Inc()
		}
		s.last = r.Err
	}
}

// see notes whether the store is lost, and logs when that changes.
func (s *state) see(d *budgetstore.Drawer, now time.Time, log *slog.Logger) {
	since, lost := d.Lost(now)
	s.mu.Lock()
	was, last := s.lost, s.last
	s.lost, s.since = lost, since
	s.mu.Unlock()
	switch {
	case lost && !was:
		log.Warn("the budget store is lost: pools live on their shares", "error", last)
	case was && !lost:
		log.Info("the budget store is back")
	}
	if !lost && d.Leased(now) {
		s.up.Set(1)
	} else {
		s.up.Set(0)
	}
}

// follow notes that nothing is drawn here.
func (s *state) follow() {
	s.mu.Lock()
	s.lost, s.last = false, nil
	s.mu.Unlock()
	s.up.Set(0)
}

// Lost says whether pools live on their shares because the store is not heard, and since when.
func (l *Loop) Lost() (since time.Time, lost bool) {
	l.state.mu.Lock()
	defer l.state.mu.Unlock()
	return l.state.since, l.state.lost
}

// Describe implements prometheus.Collector.
func (l *Loop) Describe(ch chan<- *prometheus.Desc) {
	l.state.draws.Describe(ch)
	l.state.seconds.Describe(ch)
	l.state.up.Describe(ch)
}

// Collect implements prometheus.Collector.
func (l *Loop) Collect(ch chan<- prometheus.Metric) {
	l.state.draws.Collect(ch)
	l.state.seconds.Collect(ch)
	l.state.up.Collect(ch)
}
