// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package referee

import (
	"math"
	"time"

	"github.com/headgate-dev/headgate/internal/simulate/result"
	"github.com/headgate-dev/headgate/internal/simulate/workload"
)

// places is how exact a utilisation is told, in parts: what is beyond is rounding.
const places = 1e9

// Measure begins the measurement: what was before is not counted.
func (p *Provider) Measure(now time.Time) {
	for i := range p.limits {
		l := &p.limits[i]
		if l.slots != nil {
			l.slots.most, l.slots.tally.Spent, l.slots.tally.MaxExcess = l.slots.used, 0, 0
			continue
		}
		l.Reset(now, l.Level(now))
	}
	clear(p.outsiders)
}

// Levels tells each bucket's true level, for the curves.
func (p *Provider) Levels(now time.Time, tell func(name string, level, burst float64)) {
	for i := range p.limits {
		if l := &p.limits[i]; l.slots != nil {
			tell(l.Name, l.slots.n-l.slots.used, l.slots.n)
		} else {
			tell(l.Name, l.Level(now), l.Burst)
		}
	}
}

// Budgets are the figures since Measure.
func (p *Provider) Budgets(now time.Time) map[string]*result.Budget {
	out := map[string]*result.Budget{}
	for i := range p.limits {
		l := &p.limits[i]
		b := &result.Budget{Amount: l.Amount, Burst: l.Burst, WindowSeconds: l.Window.Seconds()}
		out[l.Name] = b
		if l.slots != nil {
			b.Burst, b.Used, b.MaxExcess = l.Amount, l.slots.tally.Spent, l.slots.tally.MaxExcess
			if l.Amount > 0 {
				b.Utilisation = l.slots.most / l.Amount
			}
			continue
		}
		tally, end := l.Tally(now), l.Level(now)
		b.Outsiders = p.outsiders[l.Name]
		b.Used = tally.Spent - b.Outsiders
		b.MaxExcess, b.MaxDebt = max(0, tally.MaxExcess), max(0, -l.MinLevel())
		refill := tally.Refilled
		if l.Shape != workload.Fixed {
			refill = l.Amount / l.Window.Seconds() * now.Sub(tally.Since).Seconds()
		}
		if had := tally.Start + refill - end; had > 0 {
			b.Utilisation = math.Round(tally.Spent/had*places) / places
		}
	}
	return out
}
