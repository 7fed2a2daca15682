// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
)

// Bounds of what is deferred.
const (
	MaxCallbackHosts    = 16
	maxDeferredAge      = 31 * 24 * 60 * 60
	maxDeferredAttempts = 100
	maxDeferredCalls    = 100_000
	maxHostBytes        = 253
)

// validateInstead looks at what happens to calls whose wait is not acceptable.
func (r *Route) validateInstead() error {
	if on := r.Deadline.OnExceeded; on != "" && on != Defer {
		return fmt.Errorf("deadline: %q is not known", on)
	}
	t := r.Throttle
	if on := t.OnCeilingExceeded; on != "" && on != Defer && on != Failover {
		return fmt.Errorf("throttle: %q is not known", on)
	}
	if (t.OnCeilingExceeded == Failover) != (t.FailoverTo != "") {
		return errors.New("throttle: Failover and a route to fail over to go together")
	}
	defers := r.Deadline.OnExceeded == Defer || t.OnCeilingExceeded == Defer
	if defers != (r.Deferred != nil) {
		return errors.New("deferred: Defer and the bounds of what is deferred go together")
	}
	if defers && r.CredentialKey == "" {
		return errors.New("deferred: a call is never kept with its caller's key, and the route has none")
	}
	return r.Deferred.validate()
}

func (d *Deferred) validate() error {
	switch {
	case d == nil:
		return nil
	case d.MaxAgeSeconds < 1 || d.MaxAgeSeconds > maxDeferredAge:
		return fmt.Errorf("deferred: age of %ds is not between 1 and %d", d.MaxAgeSeconds, maxDeferredAge)
	case d.MaxAttempts < 1 || d.MaxAttempts > maxDeferredAttempts:
		return fmt.Errorf("deferred: %d attempts are not between 1 and %d", d.MaxAttempts, maxDeferredAttempts)
	case d.MaxCalls < 1 || d.MaxCalls > maxDeferredCalls:
		return fmt.Errorf("deferred: %d calls are not between 1 and %d", d.MaxCalls, maxDeferredCalls)
	case d.MaxBytes < 1 || d.MaxBytes > MaxAmount:
		return fmt.Errorf("deferred: bytes of %d are not between 1 and %d", d.MaxBytes, int64(MaxAmount))
	case len(d.CallbackHosts) > MaxCallbackHosts:
		return fmt.Errorf("deferred: %d callback hosts exceed %d", len(d.CallbackHosts), MaxCallbackHosts)
	}
	for _, host := range d.CallbackHosts {
		if !validHost(host) {
			return errors.New("deferred: a callback host is not a DNS name, or a * and a DNS name")
		}
	}
	return nil
}

// validHost says whether host is a DNS name in lower case, possibly after "*.". An address is refused: where a name
// leads is checked when it is dialled.
func validHost(host string) bool {
	name := strings.TrimPrefix(host, "*.")
	if len(host) > maxHostBytes || !strings.Contains(name, ".") {
		return false
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' || !validKey(label) {
			return false
		}
	}
	return true
}

// validateFailover allows one hop: to another route of the policy that speaks the same dialect and does not fail over.
func (p *Policy) validateFailover() error {
	for i := range p.Routes {
		from := &p.Routes[i]
		if from.Throttle.FailoverTo == "" {
			continue
		}
		to, ok := p.route(from.Throttle.FailoverTo)
		switch {
		case !ok:
			return fmt.Errorf("route %s: there is no route %q to fail over to", from.Name, from.Throttle.FailoverTo)
		case to == from:
			return fmt.Errorf("route %s fails over to itself", from.Name)
		case to.Dialect != from.Dialect:
			return fmt.Errorf("route %s fails over to %s, which speaks another dialect", from.Name, to.Name)
		case to.Throttle.FailoverTo != "":
			return fmt.Errorf("route %s fails over to %s, which fails over too", from.Name, to.Name)
		}
	}
	return nil
}

// route finds a route by its own name only.
func (p *Policy) route(name string) (*Route, bool) {
	for i := range p.Routes {
		if p.Routes[i].Name == name {
			return &p.Routes[i], true
		}
	}
	return nil, false
}
