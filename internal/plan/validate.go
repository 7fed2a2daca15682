// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"crypto/x509"
	"errors"
	"fmt"
)

// Bounds of a plan. They are those of the API, and hold here again because a gateway must not depend on
// who wrote its file.
const (
	MaxPolicies   = 1000
	MaxRoutes     = 16
	MaxLimits     = 16
	MaxLanes      = 9
	MaxTerms      = 32
	MaxValues     = 32
	MaxModels     = 16
	MaxAmount     = 1_000_000_000_000
	MaxCABytes    = 128 << 10
	maxLabelBytes = 317
	maxNameBytes  = 253
	// oldestVersion is what a gateway still reads: its own version and the two before it.
	oldestVersion = max(1, Version-2)
)

// DefaultLane is the name of the last lane of every route.
const DefaultLane = "default"

// Validate says why a gateway must not run this plan, nil if it may.
func (p *Plan) Validate() error {
	if err := knownVersion(p.Version); err != nil {
		return err
	}
	if err := p.validateHead(); err != nil {
		return err
	}
	names := map[string]bool{}
	for i := range p.Policies {
		policy := &p.Policies[i]
		if err := unique(names, policy.Name); err != nil {
			return fmt.Errorf("policies[%d]: %w", i, err)
		}
		if err := policy.validate(); err != nil {
			return fmt.Errorf("policy %s: %w", policy.Name, err)
		}
	}
	if needed := p.NeededVersion(); p.Version < needed {
		return fmt.Errorf("plan version %d holds fields of version %d", p.Version, needed)
	}
	return nil
}

func knownVersion(version int) error {
	if version < oldestVersion || version > Version {
		return fmt.Errorf("plan version %d is not known: this program reads %d to %d", version, oldestVersion, Version)
	}
	return nil
}

func (p *Plan) validateHead() error {
	if p.Revision < 1 {
		return fmt.Errorf("revision %d is not positive", p.Revision)
	}
	if p.Namespace == "" || len(p.Namespace) > maxNameBytes {
		return errors.New("namespace is missing or too long")
	}
	if len(p.Policies) > MaxPolicies {
		return fmt.Errorf("%d policies exceed %d", len(p.Policies), MaxPolicies)
	}
	return errors.Join(validCA("coordinatorCA", p.CoordinatorCA), validCA("providerCA", p.ProviderCA))
}

// validCA asks for at least one certificate: a bundle without would fail every connection much later.
func validCA(field, bundle string) error {
	if bundle == "" {
		return nil
	}
	if len(bundle) > MaxCABytes {
		return fmt.Errorf("%s exceeds %d bytes", field, MaxCABytes)
	}
	if !x509.NewCertPool().AppendCertsFromPEM([]byte(bundle)) {
		return fmt.Errorf("%s holds no PEM certificate", field)
	}
	return nil
}

func (p *Policy) validate() error {
	if p.MaxGateways < 1 {
		return fmt.Errorf("maxGateways %d is not positive", p.MaxGateways)
	}
	if len(p.Selector) > MaxTerms {
		return fmt.Errorf("%d selector terms exceed %d", len(p.Selector), MaxTerms)
	}
	for i, term := range p.Selector {
		if err := term.validate(); err != nil {
			return fmt.Errorf("selector[%d]: %w", i, err)
		}
	}
	if len(p.Routes) < 1 || len(p.Routes) > MaxRoutes {
		return fmt.Errorf("%d routes are not between 1 and %d", len(p.Routes), MaxRoutes)
	}
	names := map[string]bool{}
	for i := range p.Routes {
		route := &p.Routes[i]
		if err := unique(names, route.Name); err != nil {
			return fmt.Errorf("routes[%d]: %w", i, err)
		}
		if err := route.validate(); err != nil {
			return fmt.Errorf("route %s: %w", route.Name, err)
		}
	}
	return p.validateFailover()
}

func (t Term) validate() error {
	if t.Key == "" || len(t.Key) > maxLabelBytes {
		return errors.New("key is missing or too long")
	}
	if len(t.Values) > MaxValues {
		return fmt.Errorf("%d values exceed %d", len(t.Values), MaxValues)
	}
	switch t.Operator {
	case In, NotIn:
		if len(t.Values) == 0 {
			return fmt.Errorf("%s has no values", t.Operator)
		}
	case Exists, DoesNotExist:
		if len(t.Values) != 0 {
			return fmt.Errorf("%s has values", t.Operator)
		}
	default:
		return fmt.Errorf("operator %q is not known", t.Operator)
	}
	return nil
}

// unique refuses empty, overlong and repeated names and remembers the others.
func unique(seen map[string]bool, name string) error {
	switch {
	case name == "" || len(name) > maxNameBytes:
		return errors.New("name is missing or too long")
	case seen[name]:
		return fmt.Errorf("name %q appears twice", name)
	}
	seen[name] = true
	return nil
}
