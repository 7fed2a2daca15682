// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"time"

	"github.com/headgate-dev/headgate/internal/budget/pool"
)

// after has do happen when a message has arrived.
func (f *Fleet) after(do func()) {
	g := f.env.Gateways
	f.env.Clock.After(g.Latency+time.Duration(f.env.Chance()*float64(g.Jitter)), do)
}

// up sends a report, unless the gateways are cut off.
func (f *Fleet) up(r *pool.Report) {
	if f.cut {
		return
	}
	f.after(func() {
		if f.cut || f.ledger.Report(f.id(), r, f.env.Clock.Now()) != nil {
			return
		}
		f.look(f.env.Clock.Now().Add(batch))
	})
}

// look has the ledger looked at, at a time or before.
func (f *Fleet) look(at time.Time) {
	if !f.due.IsZero() && !at.Before(f.due) {
		return
	}
	f.due = at
	f.looks++
	mine := f.looks
	f.env.Clock.At(at, func() {
		if f.looks == mine {
			f.due = time.Time{}
			f.grant()
		}
	})
}

// grant grants what can be granted, and answers who reported.
func (f *Fleet) grant() {
	now := f.env.Clock.Now()
	f.ledger.Advance(now)
	if f.ledger.Stale() {
		f.ledger.Published(f.ledger.State(now))
		f.ledger.Advance(now)
	}
	for _, to := range f.ledger.Changed(nil) {
		if g, ok := f.ledger.Grant(to, now); ok {
			f.down(&g)
		}
	}
	if next, ok := f.ledger.Next(now); ok {
		f.look(next)
	}
}

// down sends a grant.
func (f *Fleet) down(g *pool.Grant) {
	if f.cut {
		return
	}
	f.after(func() {
		if f.cut {
			return
		}
		for _, i := range f.order() {
			if m := f.members[i]; m.incarnation == g.Incarnation && name(i) == g.Holder {
				m.receive(g)
			}
		}
	})
}
