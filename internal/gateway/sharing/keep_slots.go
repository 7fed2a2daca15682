// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import "slices"

// Who is under way keeps over an edit the slots that it took, no more and no fewer: what it gives back at its end is then what
// was taken for it, whatever its limits count by then. The gate keeps it so too.

// handBack gives back slots of limits that are gone, before the holder may use their places for others.
func (m *Member) handBack(old []limit) {
	m.places.each(func(p *place) {
		if p.where != holding {
			return
		}
		for j := range old {
			if p.holds(old, j) && slotsOf(m.limits, old[j].Name) < 0 {
				m.holder.UseAt(old[j].pocket, -1)
			}
		}
	})
}

// keepSlots has the costs of a call that is under way say which slots it took, where before and old are its costs and the
// limits from before the edit.
func (m *Member) keepSlots(p *place, before []float64, old []limit) {
	for k := range m.limits {
		if l := &m.limits[k]; l.slots {
			p.costs[k] = 0
			if j := slotsOf(old, l.Name); j >= 0 && j < len(before) {
				p.costs[k] = before[j]
			}
		}
	}
}

func (p *place) holds(limits []limit, k int) bool {
	return limits[k].slots && k < len(p.costs) && p.costs[k] > 0
}

// slotsOf finds the limit of calls in flight that has a name.
func slotsOf(limits []limit, name string) int {
	return slices.IndexFunc(limits, func(l limit) bool { return l.slots && l.Name == name })
}
