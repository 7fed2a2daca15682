// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package tally

import "maps"

// FailoverUnavailable is the outcome of a failover to a route that this gateway does not have.
const FailoverUnavailable = "unavailable"

// Failover is a call's way to another route, and what came of it there.
type Failover struct{ To, Outcome string }

// FailedOverTo counts a failover.
func (r *Route) FailedOverTo(to, outcome string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := Failover{to, outcome}
	if _, ok := r.failovers[f]; !ok && len(r.failovers) >= maxReasons {
		f = Failover{Other, Other}
	}
	r.failovers[f]++
}

// Failovers copies the counts.
func (r *Route) Failovers() map[Failover]uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.failovers)
}
