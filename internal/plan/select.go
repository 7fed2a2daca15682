// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/headgate-dev/headgate/internal/dialect"
)

// Select returns the policy and the route that govern a pod's calls to a route: of the policies in order of
// precedence the first that selects the pod and has the route. False means that no policy governs them.
func (p *Plan) Select(labels map[string]string, route string) (*Policy, *Route, bool) {
	for i := range p.Policies {
		policy := &p.Policies[i]
		if !policy.Selects(labels) {
			continue
		}
		if r, ok := policy.Route(route); ok {
			return policy, r, true
		}
	}
	return nil, nil, false
}

// Selects says whether all terms of the selector hold for a pod's labels.
func (p *Policy) Selects(labels map[string]string) bool {
	for _, term := range p.Selector {
		if !term.Holds(labels) {
			return false
		}
	}
	return true
}

// Route returns the policy's route of that name. A dialect's built-in route, which is its name in lower
// case, is also had by a policy with just one route of the dialect.
func (p *Policy) Route(name string) (*Route, bool) {
	if r, ok := p.route(name); ok {
		return r, true
	}
	facts, ok := dialect.ByRoute(name)
	if !ok || !facts.BuiltIn() {
		return nil, false
	}
	return p.onlyOfDialect(facts.Name)
}

func (p *Policy) onlyOfDialect(name string) (*Route, bool) {
	var found *Route
	for i := range p.Routes {
		if p.Routes[i].Dialect != name {
			continue
		}
		if found != nil {
			return nil, false
		}
		found = &p.Routes[i]
	}
	return found, found != nil
}

// Holds says whether the term holds for labels, with the meaning Kubernetes gives the operators: NotIn
// holds also where the key is missing, and an operator that is not known never holds.
func (t Term) Holds(labels map[string]string) bool {
	value, has := labels[t.Key]
	switch t.Operator {
	case In:
		return has && slices.Contains(t.Values, value)
	case NotIn:
		return !has || !slices.Contains(t.Values, value)
	case Exists:
		return has
	case DoesNotExist:
		return !has
	}
	return false
}
