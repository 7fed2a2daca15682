// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator

import (
	"slices"
	"time"

	"connectrpc.com/connect"

	"github.com/headgate-dev/headgate/internal/wire"
)

// Bounds on a report's strings, beside those of wire.
const (
	maxName      = 253
	maxPlanError = 512
	maxReasons   = 32
)

// observe takes a report in. An error ends the stream.
func (s *Server) observe(st *stream, report *wire.Report, now time.Time) error {
	if !withinBounds(report) {
		return connect.NewError(connect.CodeInvalidArgument, errBadReport)
	}
	if taken, err := s.take(st, report, now); !taken {
		return err
	}
	s.opts.Figures.Observe(st.id.Pod, st.incarnation, report, now)
	return nil
}

// take checks that the stream is its pod's and not too busy, reads what is about plan and share, and leaves
// of the routes those of the namespace's plan. A report on the way when another replica began to lead is not taken.
func (s *Server) take(st *stream, report *wire.Report, now time.Time) (taken bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := st.member
	if !st.allowed.take(now, reportsPerSecond, reportBurst) {
		return false, errFlood
	}
	if st.moved != "" {
		return false, nil
	}
	if m.stream != st {
		return false, errReplaced
	}
	s.stats.reports++
	sp := s.space(m.pod.Namespace)
	first := m.lastReport.IsZero() || now.Sub(m.lastReport) > wire.LeaseTTL
	st.heard, m.lastReport, m.silent = now, now, false
	if m.acknowledge(report) || first {
		s.notify(m.pod.Namespace)
	}
	dropped := sp.filter(report)
	s.stats.foreign += uint64(dropped)
	return true, nil
}

// acknowledge remembers which plan the gateway runs; true when that changed.
func (m *member) acknowledge(report *wire.Report) bool {
	before := m.ack
	m.ack.Revision = report.GetAcknowledgedRevision()
	m.ack.PlanError, m.ack.PlanErrorRevision = "", 0
	if report.GetPlanErrorRevision() > m.ack.Revision {
		m.ack.PlanError, m.ack.PlanErrorRevision = report.GetPlanError(), report.GetPlanErrorRevision()
	}
	m.ack.Draining = report.GetDraining()
	m.draining = report.GetDraining()
	return m.ack != before
}

// filter leaves of a report what the namespace's plan has, and returns how many routes were dropped.
func (sp *space) filter(report *wire.Report) (dropped int) {
	all := len(report.GetRoutes())
	report.Routes = slices.DeleteFunc(report.GetRoutes(), func(r *wire.RouteReport) bool {
		known := sp.routes[routeKey{r.GetPolicy(), r.GetProvider()}]
		if known == nil {
			return true
		}
		r.Limits = slices.DeleteFunc(r.GetLimits(), func(l *wire.LimitReport) bool { return !known.names.Limits[l.GetName()] })
		r.Lanes = slices.DeleteFunc(r.GetLanes(), func(l *wire.LaneReport) bool { return !known.names.Lanes[l.GetName()] })
		return false
	})
	return all - len(report.Routes)
}

func withinBounds(r *wire.Report) bool {
	if len(r.GetRoutes()) > wire.MaxRoutes || len(r.GetPlanError()) > maxPlanError {
		return false
	}
	for _, route := range r.GetRoutes() {
		if !routeWithinBounds(route) {
			return false
		}
	}
	return true
}

func routeWithinBounds(r *wire.RouteReport) bool {
	if len(r.GetPolicy()) > maxName || len(r.GetProvider()) > maxName ||
		len(r.GetLimits()) > wire.MaxLimits || len(r.GetLanes()) > wire.MaxLanes || len(r.GetModels()) > wire.MaxModels {
		return false
	}
	for _, l := range r.GetLanes() {
		if len(l.GetWaitBuckets()) > len(wire.WaitBoundsMillis)+1 || len(l.GetRefused()) > maxReasons {
			return false
		}
	}
	return true
}
