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
		if f.cut || f.pool.Report(r, f.env.Clock.Now()) != nil {
			return
		}
		f.look(f.env.Clock.Now().Add(batch))
	})
}

// look has the pool looked at, at a time or before.
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
	f.pool.Advance(now)
	if f.pool.Stale() {
		f.pool.Published(f.pool.State(now))
		f.pool.Advance(now)
	}
	for _, key := range f.pool.Changed(nil) {
		if g, ok := f.pool.Grant(key, now); ok {
			f.down(&g)
		}
	}
	if next, ok := f.pool.Next(now); ok {
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
