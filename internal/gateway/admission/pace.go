// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"math"
	"time"
)

// paceOf is the rate that a mirror refills at: what the provider gives, a little slower, less what refusals cut off and
// what others spend.
func (g *Gate) paceOf(grp *group, m *mirror, now time.Time) float64 {
	pace := m.rate*slower*grp.adaptive.factor() - m.outsiders.spend(m.rate, now)
	return max(pace, m.rate*(1-outsidersMost))
}

// fitLocked gives the scheduler numbers that have changed by enough; mu is held.
func (g *Gate) fitLocked(grp *group, m *mirror, now time.Time) {
	if !m.known {
		return
	}
	pace, capacity := g.paceOf(grp, m, now), m.limit-m.guarded()
	if math.Abs(pace-m.pace) >= paceStep*m.rate || math.Abs(capacity-m.capacity) >= guardStep*m.limit {
		g.ensureLocked(grp, m, now)
	}
}

// adaptLocked draws the conclusions from a refusal; mu is held. First others are looked for: if they explain it, the
// pace allows for them, and nothing is cut.
func (g *Gate) adaptLocked(grp *group, t *Ticket, unexpected bool, now time.Time) {
	if !grp.adaptive.refused(t.Sent, unexpected, now) {
		return
	}
	explained := false
	for _, m := range grp.mirrors {
		if !m.known {
			continue
		}
		before := m.outsiders.spend(m.rate, now)
		m.outsiders.flush(m.rate)
		explained = explained || m.outsiders.spend(m.rate, now) >= before+paceStep*m.rate
		// What was learned of the guard was too little, or has changed.
		m.guard = guard{}
	}
	if explained {
		grp.adaptive.excuse(now)
	} else {
		grp.adaptive.reduce(g.floor(), now)
	}
	g.fitAllLocked(grp, now)
}

// recoverLocked gives back what time has earned; mu is held.
func (g *Gate) recoverLocked(grp *group, now time.Time) {
	if grp.adaptive.recover(now) {
		g.fitAllLocked(grp, now)
	}
}

func (g *Gate) fitAllLocked(grp *group, now time.Time) {
	for _, m := range grp.mirrors {
		g.fitLocked(grp, m, now)
	}
}

// floor is how far refusals may cut the rate: to what lanes other than the default one have reserved, within bounds.
func (g *Gate) floor() float64 {
	reserved := 0.0
	for i := range g.route.Lanes[:max(len(g.route.Lanes)-1, 0)] {
		reserved += float64(g.route.Lanes[i].SharePermille) / 1000
	}
	return clamp(reserved, floorLeast, floorMost)
}
