// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// namespaces holds what is remembered of each namespace that has, or had, policies: one entry for each
// namespace, dropped when nothing is left to remember.
type namespaces struct {
	mu     sync.Mutex
	byName map[string]*namespace
}

// namespace is one of them. Its lock is held by a reconcile and by a refresh, so that they never write the
// same status at once.
type namespace struct {
	mu   sync.Mutex
	name string
	// decided is the last decision, nil before the first.
	decided *decision
	// revision is the highest one given out; it outlives the plan's ConfigMap.
	revision int64
	// podsSeen counts the pods of each policy, by name, as of the last decision.
	podsSeen map[string]int32
	// unstored: the last decision's plan was not written, and is in force all the same. refused is why, if the API server will
	// go on refusing it.
	unstored bool
	refused  string
	// raised is what status.Build wants back, by policy.
	raised map[types.UID][]string
}

func newNamespaces() *namespaces { return &namespaces{byName: map[string]*namespace{}} }

// lock returns the namespace's entry, locked.
func (n *namespaces) lock(name string) *namespace {
	n.mu.Lock()
	s, ok := n.byName[name]
	if !ok {
		s = &namespace{name: name, raised: map[types.UID][]string{}}
		n.byName[name] = s
	}
	n.mu.Unlock()
	s.mu.Lock()
	return s
}

// find returns the namespace's entry, locked, or nil where there is none.
func (n *namespaces) find(name string) *namespace {
	n.mu.Lock()
	s := n.byName[name]
	n.mu.Unlock()
	if s != nil {
		s.mu.Lock()
	}
	return s
}

func (s *namespace) unlock() { s.mu.Unlock() }

// forget drops an entry; its holder still has to unlock it. One who waits for it just works on an entry of
// its own, which the next reconcile drops again.
func (n *namespaces) forget(s *namespace) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.byName[s.name] == s {
		delete(n.byName, s.name)
	}
}

// names lists the namespaces remembered.
func (n *namespaces) names() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := make([]string, 0, len(n.byName))
	for name := range n.byName {
		out = append(out, name)
	}
	return out
}
