// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import "slices"

// Who is under way keeps over an edit the slots that it took, no more and no fewer: what it gives back at its end is then what
// was taken for it, whatever its limits count by then. The gate keeps it so too. A limit that is removed keeps its place at the
// holder, and is found as it was if it comes back while they run.

// keepSlots has a call that is under way say which slots it took, where before and old are its costs and the limits from before
// the edit.
func (m *Member) keepSlots(p *place, before []float64, old []limit) {
	held := p.beside
	for j := range min(len(old), len(before)) {
		if old[j].slots && before[j] > 0 {
			held = append(held, old[j].Name)
		}
	}
	p.beside = nil
	for k := range m.limits {
		if m.limits[k].slots {
			p.costs[k] = 0
		}
	}
	for _, name := range held {
		k := slices.IndexFunc(m.limits, func(l limit) bool { return l.Name == name })
		switch {
		case k >= 0 && m.limits[k].slots:
			p.costs[k] = 1
		case k < 0 && m.holder.Place(name) >= 0: // else its place has gone, and the slots with it
			p.beside = append(p.beside, name)
		}
	}
}
