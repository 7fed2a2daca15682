// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import "time"

// StartAt lowers the limits of a gate that has admitted nothing to a part of their capacity, 0 to 1: its owner knows
// what was spent before the gate was there, as a simulation does.
func (g *Gate) StartAt(part float64, now time.Time) {
	g.lock()
	defer g.unlock()
	if part >= 1 {
		return
	}
	for _, l := range g.limits {
		g.sched.Lower(l.id, max(part, 0)*bucket(l.Limit, l.share).Capacity, now)
	}
}
