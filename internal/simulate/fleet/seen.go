// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"math"
	"time"

	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
)

// What the provider says is a fact about all gateways' budget, which only the pool can act on: a gateway does not know what
// the others may spend.

// sight is the most that the provider can have of a limit, by what it said at a time.
type sight struct {
	most float64
	at   time.Time
}

// Observe implements gateway.Admission.
func (m *member) Observe(t *admission.Ticket, r *dialect.Reading, now time.Time) {
	m.sync(now)
	m.Gate.Observe(t, r, now)
	m.sync(now)
	for i := range m.limits {
		l := &m.limits[i]
		if l.Budget == plan.InFlight || cost(&l.Limit, t) == 0 {
			continue
		}
		for k := range r.Budgets {
			b := &r.Budgets[k]
			if b.Budget != l.Budget || b.Bucket != "" || !(b.Remaining >= 0) || math.IsInf(b.Remaining, 0) {
				continue
			}
			// It was true at some moment since the call was sent.
			most := b.Remaining + max(b.RoundedTo, 1) + rate(l.Limit)*max(0, now.Sub(t.Sent).Seconds())
			if l.seen.at.IsZero() || most < l.seen.by(now, rate(l.Limit)) {
				l.seen = sight{most, now}
			}
		}
	}
}

// by is what it can have grown to.
func (s *sight) by(now time.Time, rate float64) float64 {
	return s.most + rate*max(0, now.Sub(s.at).Seconds())
}

// sights are what was seen since the last report.
func (m *member) sights(now time.Time) []pool.Amount {
	var out []pool.Amount
	for i := range m.limits {
		if l := &m.limits[i]; !l.seen.at.IsZero() {
			out = append(out, pool.Amount{Budget: l.Name, Units: l.seen.by(now, rate(l.Limit))})
			l.seen = sight{}
		}
	}
	return out
}
