// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"math"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

// Only the pool knows what a large call will wait for: what is there, what lanes keep of it, and whose calls wait before it at
// other holders. So it says that with each grant, of lanes that ask for large calls.

// Outlook is how a lane stands on one budget.
type Outlook struct {
	Budget string
	// Spare is what is there for the lane beyond what waits in it, of all holders, below zero if that lacks so much. PerSecond is
	// how fast it grows.
	Spare, PerSecond float64
}

// outlook says how a lane that asked for large calls stands, and which of the holder's that counts, 0 if none waits. Of external budgets nothing is
// said: what their store has is not known here.
func (p *Pool) outlook(a *account, l *laneBook) (out []Outlook, asked uint64) {
	lane, asks := p.laneOf(l.name), false
	for _, c := range a.claims {
		if c.lane == l && c.class == bulk {
			asks = true
			if c.queued || c.parked {
				asked = c.number
			}
		}
	}
	if !asks {
		return nil, 0
	}
	for _, k := range a.books {
		b := k.purse
		if b.Kind != budget.Continuous || b.External || b.retired {
			continue
		}
		spare, perSecond := p.sched.Outlook(b.id, lane, p.now)
		for _, s := range b.charged[lane] {
			x, y := p.sched.Outlook(s.id, lane, p.now)
			spare, perSecond = min(spare, x), min(perSecond, y)
		}
		out = append(out, Outlook{b.Name, spare, perSecond})
	}
	return out, asked
}

// outlooks are a holder's, by lane.
type outlooks map[string]*heard

// heard is what the pool said last of a lane.
type heard struct {
	at    time.Time
	asked uint64
	of    []Outlook
}

// hear takes in what a grant says of a lane.
func (o outlooks) hear(l *LaneTotal, now time.Time) {
	if len(l.Outlook) == 0 || len(l.Outlook) > maxBudgets {
		return
	}
	h := o[l.Lane]
	if h == nil {
		if len(o) >= maxLanes {
			return
		}
		h = &heard{}
		o[l.Lane] = h
	}
	h.at, h.asked, h.of = now, l.Asked, h.of[:0]
	for _, x := range l.Outlook {
		if !math.IsNaN(x.Spare) {
			h.of = append(h.of, Outlook{x.Budget, max(-largest, min(x.Spare, largest)), clean(x.PerSecond)})
		}
	}
}

// Outlook is what the pool said last in the term of how a lane stands, grown by what came since then, and which of the holder's large
// calls that counts; nil if nothing was said for so long.
func (h *Holder) Outlook(lane string, within time.Duration, now time.Time) (of []Outlook, asked uint64) {
	h.tick(now)
	o := h.outlooks[lane]
	if o == nil || h.now.Sub(o.at) > within {
		return nil, 0
	}
	since := h.now.Sub(o.at).Seconds()
	for _, x := range o.of {
		of = append(of, Outlook{x.Budget, x.Spare + x.PerSecond*since, x.PerSecond})
	}
	return of, o.asked
}
