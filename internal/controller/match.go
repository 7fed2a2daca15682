// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/headgate-dev/headgate/internal/plan"
)

// matcher finds the policies that govern pods. Pods that agree in the labels any selector mentions are
// governed alike, so the work is done once for each such group, not for each pod.
type matcher struct {
	plan   *plan.Plan
	keys   []string
	groups map[string][]int
}

func newMatcher(p *plan.Plan) *matcher {
	keys := map[string]bool{}
	for i := range p.Policies {
		for _, term := range p.Policies[i].Selector {
			keys[term.Key] = true
		}
	}
	m := &matcher{plan: p, groups: map[string][]int{}}
	for key := range keys {
		m.keys = append(m.keys, key)
	}
	slices.Sort(m.keys)
	return m
}

// byPolicy returns the pods that each policy of the plan governs at least one route of.
func (m *matcher) byPolicy(pods []*corev1.Pod) map[string][]*corev1.Pod {
	out := map[string][]*corev1.Pod{}
	for _, pod := range pods {
		for _, i := range m.governing(pod.Labels) {
			name := m.plan.Policies[i].Name
			out[name] = append(out[name], pod)
		}
	}
	return out
}

// governing lists the policies, by index, that are first to have one of their routes for these labels.
func (m *matcher) governing(labels map[string]string) []int {
	group := m.group(labels)
	if found, ok := m.groups[group]; ok {
		return found
	}
	taken := map[string]bool{}
	var found []int
	for i := range m.plan.Policies {
		p := &m.plan.Policies[i]
		if !p.Selects(labels) {
			continue
		}
		governs := false
		for j := range p.Routes {
			if name := p.Routes[j].Name; !taken[name] {
				taken[name], governs = true, true
			}
		}
		if governs {
			found = append(found, i)
		}
	}
	m.groups[group] = found
	return found
}

// group tells apart an absent label and an empty one, as selectors do.
func (m *matcher) group(labels map[string]string) string {
	var b strings.Builder
	for _, key := range m.keys {
		if value, ok := labels[key]; ok {
			b.WriteByte('=')
			b.WriteString(value)
		}
		b.WriteByte(0)
	}
	return b.String()
}
