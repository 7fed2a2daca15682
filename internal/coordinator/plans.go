// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/figures"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/status"
	"github.com/headgate-dev/headgate/internal/wire"
)

// SetPlan puts a namespace's plan in force: it is sent to every gateway there at once. One that is not newer
// is ignored; no bytes drop the namespace's plan. The caller made the plan, so one that cannot be read is
// its defect: it is logged, and what was there stays.
func (s *Server) SetPlan(namespace string, revision int64, json []byte) {
	if len(json) == 0 {
		s.dropPlan(namespace)
		return
	}
	if s.superseded(namespace, revision) {
		return
	}
	p, err := plan.Parse(json)
	if err == nil && (p.Namespace != namespace || p.Revision != revision) {
		err = fmt.Errorf("it says that it is %d of %s", p.Revision, p.Namespace)
	}
	if err != nil {
		s.opts.Log.Error("a plan cannot be handed out", "namespace", namespace, "revision", revision, "error", err)
		return
	}
	s.putPlan(namespace, p, slices.Clone(json))
}

func (s *Server) superseded(namespace string, revision int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	sp := s.spaces[namespace]
	return sp != nil && sp.plan != nil && revision <= sp.revision
}

func (s *Server) putPlan(namespace string, p *plan.Plan, json []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sp := s.space(namespace)
	if sp.plan != nil && p.Revision <= sp.revision {
		return
	}
	sp.setPlan(p, json)
	s.budgets.plan(namespace, p)
	for _, m := range sp.members {
		s.govern(sp, m)
		if m.stream != nil {
			m.stream.poke()
		}
	}
	names := make([]string, 0, len(p.Policies))
	for _, policy := range p.Policies {
		names = append(names, policy.Name)
	}
	s.opts.Figures.Keep(namespace, names)
}

func (s *Server) dropPlan(namespace string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sp := s.spaces[namespace]; sp != nil {
		sp.plan, sp.json, sp.revision = nil, nil, 0
		clear(sp.routes)
		for _, m := range sp.members {
			sp.govern(m)
		}
		s.budgets.plan(namespace, nil)
	}
	s.opts.Figures.Keep(namespace, nil)
}

// Ack is what a gateway said of its plan.
type Ack struct {
	// Revision is the plan in force there.
	Revision int64
	// PlanError says why PlanErrorRevision, a newer one, is not; empty when there is none.
	PlanError         string
	PlanErrorRevision int64
	// Version of the gateway, and Contract it was injected with.
	Version  string
	Contract string
	// Draining gateways are about to leave.
	Draining bool
}

// Acknowledged returns what every reporting gateway of a namespace said of its plan.
func (s *Server) Acknowledged(namespace string) map[figures.Pod]Ack {
	now := time.Now()
	acks := map[figures.Pod]Ack{}
	s.mu.Lock()
	defer s.mu.Unlock()
	if sp := s.spaces[namespace]; sp != nil {
		for pod, m := range sp.members {
			if m.reporting(now) {
				acks[pod] = m.ack
			}
		}
	}
	return acks
}

// Rejections are the gateways that keep an older plan than they were given, by name of pod.
func (s *Server) Rejections(namespace string) []status.Rejection {
	var list []status.Rejection
	for pod, ack := range s.Acknowledged(namespace) {
		if ack.PlanErrorRevision > ack.Revision {
			list = append(list, status.Rejection{Pod: pod.Name, Revision: ack.PlanErrorRevision, Message: ack.PlanError})
		}
	}
	slices.SortFunc(list, func(a, b status.Rejection) int { return cmp.Compare(a.Pod, b.Pod) })
	return list
}

// Policy returns a policy's figures; zero when nothing is known.
func (s *Server) Policy(namespace, policy string, now time.Time) figures.PolicyFigures {
	f, _ := s.opts.Figures.Policy(namespace, policy, now)
	s.mu.Lock()
	defer s.mu.Unlock()
	sp := s.spaces[namespace]
	if sp == nil {
		return f
	}
	for i := range f.Gateways {
		g := &f.Gateways[i]
		if m := sp.members[figures.Pod{Namespace: namespace, Name: g.Pod, UID: g.UID}]; m != nil {
			g.Contract = m.ack.Contract
		}
	}
	return f
}

// Reporting returns the pods whose gateways report, by name.
func (s *Server) Reporting(namespace string) []figures.Pod {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	var pods []figures.Pod
	if sp := s.spaces[namespace]; sp != nil {
		for _, m := range sp.sorted() {
			if m.reporting(now) {
				pods = append(pods, m.pod)
			}
		}
	}
	return pods
}

// reporting gateways have reported within a lease's time: one that reconnects does not flicker.
func (m *member) reporting(now time.Time) bool {
	return !m.lastReport.IsZero() && now.Sub(m.lastReport) <= wire.LeaseTTL
}

// Changed receives when gateways came, went or acknowledged: one value for any number of changes. What
// changed is told by TakeChanged. Reports alone change nothing.
func (s *Server) Changed() <-chan struct{} { return s.changed }

// TakeChanged returns the namespaces that changed since it was last called, by name.
func (s *Server) TakeChanged() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := slices.Sorted(maps.Keys(s.dirty))
	clear(s.dirty)
	return names
}

// notify notes a change; mu is held.
func (s *Server) notify(namespace string) {
	s.dirty[namespace] = struct{}{}
	select {
	case s.changed <- struct{}{}:
	default:
	}
}
