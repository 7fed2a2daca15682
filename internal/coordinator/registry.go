// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/headgate-dev/headgate/internal/wire"
)

// join makes the stream its pod's one.
func (s *Server) join(st *stream, hello *wire.Hello) error {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seeLeader()
	if !s.lead.self || s.stopped {
		return errStopped
	}
	sp := s.space(st.id.Pod.Namespace)
	m := sp.members[st.id.Pod]
	replaces := m != nil && m.stream != nil
	if !replaces && (s.streams >= s.opts.Bounds.Streams || sp.connected() >= s.opts.Bounds.NamespaceStreams) {
		return errTooMany
	}
	if m == nil {
		m = newMember(st.id.Pod, now)
		sp.members[st.id.Pod] = m
	}
	if !m.connects.take(now, connectsPerSecond, connectBurst) {
		return errTooOften
	}
	if replaces {
		m.stream.end(errReplaced)
		s.streams--
	}
	s.streams++
	st.member, st.heard, m.version = m, now, s.stats.version(hello.GetVersion())
	m.enter(st, hello, now)
	s.budgets.enter(st)
	s.seePod(sp, m, now)
	s.govern(sp, m)
	st.planSent = hello.GetPlanRevision()
	st.poke()
	return nil
}

func (sp *space) connected() (n int) {
	for _, m := range sp.members {
		if m.stream != nil {
			n++
		}
	}
	return n
}

func (m *member) enter(st *stream, hello *wire.Hello, now time.Time) {
	m.stream, m.incarnation, m.joined = st, hello.GetIncarnation(), now
	m.draining = false
	m.ack.Contract = hello.GetContractVersion()
	m.ack.Version = hello.GetVersion()
}

// leave ends a stream's part; the member stays while its pod does.
func (s *Server) leave(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := st.member
	if m.stream != st {
		return
	}
	m.stream = nil
	s.streams--
	s.budgets.leave(st)
	sp := s.spaces[m.pod.Namespace]
	if sp == nil || sp.members[m.pod] != m {
		return
	}
	if m.draining {
		s.drop(sp, m)
	}
}

// drop forgets a member whose gateway has ended.
func (s *Server) drop(sp *space, m *member) {
	if m.stream != nil {
		m.stream.end(errGone)
		s.budgets.leave(m.stream)
		m.stream = nil
		s.streams--
	}
	s.budgets.forget(m, m.governed)
	delete(sp.members, m.pod)
	s.opts.Figures.Forget(m.pod)
	s.notify(m.pod.Namespace)
}

// Run grants and looks after streams until ctx ends.
func (s *Server) Run(ctx context.Context) error {
	var granting sync.WaitGroup
	granting.Go(func() { s.budgets.run(ctx) })
	defer granting.Wait()
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	var checked, swept time.Time
	for {
		select {
		case <-ctx.Done():
			s.stop()
			return nil
		case <-ticker.C:
		}
		now := time.Now()
		s.turn(now, now.Sub(checked) >= keepAlive)
		if now.Sub(checked) >= keepAlive {
			checked = now
		}
		if now.Sub(swept) >= time.Minute {
			swept = now
			s.opts.Figures.Sweep(now)
		}
	}
}

func (s *Server) turn(now time.Time, check bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seeLeader()
	for name, sp := range s.spaces {
		if check {
			s.meet(name, sp, now)
			s.check(sp, now)
		}
		if sp.plan == nil && len(sp.members) == 0 {
			delete(s.spaces, name)
		}
	}
}

// seeLeader acts on a change of leader: what the members of the last one hold is not known here.
func (s *Server) seeLeader() {
	address, self := s.opts.Leadership.Leader()
	epoch := s.opts.Leadership.Epoch()
	if self == s.lead.self && (!self || epoch == s.lead.epoch) {
		s.lead.address = address
		return
	}
	s.lead = leadership{self: self, address: address, epoch: epoch}
	for _, sp := range s.spaces {
		for _, m := range sp.members {
			if st := m.stream; st != nil {
				st.move(address)
				m.stream = nil
			}
		}
		clear(sp.members)
	}
	s.streams = 0
	s.opts.Figures.Reset()
	if self {
		s.budgets.do(s.budgets.lead(epoch))
	} else {
		s.budgets.do(s.budgets.follow)
	}
}

// move sends the stream's gateway to the leader, or away if nobody leads.
func (st *stream) move(address string) {
	if address == "" {
		st.end(errStopped)
		return
	}
	st.moved = address
	st.poke()
	// No check looks after it any more.
	time.AfterFunc(sendTimeout, func() { st.end(errStuck) })
}

func (s *Server) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	for _, sp := range s.spaces {
		for _, m := range sp.members {
			if m.stream != nil {
				m.stream.end(errStopped)
			}
		}
	}
}

// meet makes members of pods whose gateways have not come yet: they may be spending their safe shares, and a new leader
// has heard of nobody.
func (s *Server) meet(namespace string, sp *space, now time.Time) {
	if !s.lead.self || sp.plan == nil || now.Sub(sp.met) < podCheck {
		return
	}
	sp.met = now
	for _, pod := range s.opts.Pods.Gateways(namespace) {
		if sp.members[pod] != nil || len(sp.members) >= s.opts.Bounds.NamespaceStreams {
			continue
		}
		m := newMember(pod, now)
		if s.seePod(sp, m, now) {
			sp.members[pod] = m
		}
	}
}

// check looks after a namespace's members, once every keepAlive.
func (s *Server) check(sp *space, now time.Time) {
	for _, m := range sp.members {
		if now.Sub(m.podChecked) >= podCheck && !s.seePod(sp, m, now) {
			s.drop(sp, m)
			continue
		}
		if m.stream == nil {
			if m.missed(now) {
				s.notify(m.pod.Namespace)
			}
			continue
		}
		m.stream.check(now)
		m.stream.live(now)
	}
}

// live has something be said if nothing was of late.
func (st *stream) live(now time.Time) {
	if now.Sub(st.said) >= keepAlive {
		st.lifeDue = true
		st.poke()
	}
}

// missed says once that a member has not reported for as long as it may spend without.
func (m *member) missed(now time.Time) bool {
	if m.silent || m.reporting(now) {
		return false
	}
	m.silent = true
	return true
}

func (st *stream) check(now time.Time) {
	switch {
	case !st.id.Expires.IsZero() && now.After(st.id.Expires):
		st.end(errExpired)
	case now.Sub(st.heard) > silence:
		st.end(errSilent)
	case !st.sending.IsZero() && now.Sub(st.sending) > sendTimeout:
		st.end(errStuck)
	}
}

// seePod reads a member's pod; false when it is gone.
func (s *Server) seePod(sp *space, m *member, now time.Time) bool {
	m.podChecked = now
	labels, ok := s.opts.Pods.Labels(m.pod)
	if !ok {
		return !m.known && now.Sub(m.joined) < podGrace
	}
	if !m.known || !maps.Equal(labels, m.labels) {
		m.known, m.labels = true, labels
		s.govern(sp, m)
	}
	return true
}
