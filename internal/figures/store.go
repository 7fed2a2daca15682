// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"slices"
	"sync"
	"time"

	"github.com/headgate-dev/headgate/internal/wire"
)

// Bounds on a store.
const (
	// stale is how long a gateway's levels count after its last report.
	stale = wire.LeaseTTL
	// maxPolicies per namespace.
	maxPolicies = 512
	// maxGateways per namespace, those that went within the window included.
	maxGateways = 20_000
	// maxGone of them.
	maxGone = 1_024
)

// Store holds what the gateways of all namespaces reported. Its one lock guards everything in it.
type Store struct {
	mu         sync.Mutex
	namespaces map[string]*namespace
}

type namespace struct {
	policies map[string]*aggregate
	gateways map[Pod]*gateway
	gone     int
}

// NewStore returns an empty store.
func NewStore() *Store { return &Store{namespaces: map[string]*namespace{}} }

// Observe adds a report that came from a pod's incarnation. The caller has checked that the pod is who it
// says, and that the policies are its namespace's.
func (s *Store) Observe(pod Pod, incarnation uint64, report *wire.Report, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ns := s.namespaces[pod.Namespace]
	if ns == nil {
		ns = &namespace{policies: map[string]*aggregate{}, gateways: map[Pod]*gateway{}}
		s.namespaces[pod.Namespace] = ns
	}
	gw := ns.gateway(pod, now)
	if gw == nil {
		return
	}
	at, recent := started(report, now)
	run, fresh := gw.run(incarnation, at)
	o := observation{now: now, ns: ns, gw: gw, run: run, count: !fresh || recent, from: gw.heard}
	if fresh {
		o.from = at
	}
	if now.After(gw.heard) {
		gw.heard = now
	}
	o.add(report)
}

// Forget says that a pod is gone: its levels no longer count, what it did stays in the window.
func (s *Store) Forget(pod Pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ns := s.namespaces[pod.Namespace]
	if ns == nil {
		return
	}
	if gw := ns.gateways[pod]; gw != nil && !gw.gone {
		gw.gone = true
		ns.gone++
	}
	if ns.gone > maxGone {
		ns.dropOldest()
	}
}

// Keep drops what the namespace's policies other than these did; none drops the namespace.
func (s *Store) Keep(name string, policies []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ns := s.namespaces[name]
	if ns == nil {
		return
	}
	if len(policies) == 0 {
		delete(s.namespaces, name)
		return
	}
	for policy := range ns.policies {
		if !slices.Contains(policies, policy) {
			delete(ns.policies, policy)
		}
	}
}

// Reset drops everything: for a replica that no longer leads.
func (s *Store) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.namespaces)
}

// Sweep drops gateways that have not been heard of within the window, and namespaces that nothing is left
// of: a gateway may report for a moment after its namespace's policies went.
func (s *Store) Sweep(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, ns := range s.namespaces {
		ns.sweep(now)
		if len(ns.gateways) == 0 && len(ns.policies) == 0 {
			delete(s.namespaces, name)
		}
	}
}

// gateway finds or makes a pod's memory; nil when the namespace is full.
func (n *namespace) gateway(pod Pod, now time.Time) *gateway {
	if gw := n.gateways[pod]; gw != nil {
		if gw.gone {
			gw.gone = false
			n.gone--
		}
		return gw
	}
	if len(n.gateways) >= maxGateways {
		n.sweep(now)
	}
	if len(n.gateways) >= maxGateways {
		return nil
	}
	gw := &gateway{pod: pod, used: map[limitKey]*ring{}}
	n.gateways[pod] = gw
	return gw
}

func (n *namespace) sweep(now time.Time) {
	for _, gw := range n.gateways {
		if now.Sub(gw.heard) > Window+recentSlot {
			n.drop(gw)
		}
	}
}

func (n *namespace) drop(gw *gateway) {
	delete(n.gateways, gw.pod)
	if gw.gone {
		n.gone--
	}
}

// dropOldest drops the gone gateway that was heard of least recently.
func (n *namespace) dropOldest() {
	var oldest *gateway
	for _, gw := range n.gateways {
		if gw.gone && (oldest == nil || gw.heard.Before(oldest.heard)) {
			oldest = gw
		}
	}
	if oldest != nil {
		n.drop(oldest)
	}
}
