// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"time"

	"github.com/headgate-dev/headgate/internal/simulate/clock"
	"github.com/headgate-dev/headgate/internal/simulate/workload"
)

// outsiderEvery is how often outsiders take what they use.
const outsiderEvery = 50 * time.Millisecond

func (w *World) scheduleEvents() {
	for i := range w.wl.Events {
		e := &w.wl.Events[i]
		at, until := clock.Start.Add(e.At), clock.Start.Add(e.Until)
		switch {
		case e.Overload != "":
			provider := w.sites[e.Overload].referee
			w.clock.At(at, func() { provider.Overload(true) })
			w.clock.At(until, func() { provider.Overload(false) })
		case e.Scale > 0:
			w.clock.At(at, func() {
				w.scale(e.Scale)
				w.governed(func(g Governed) { g.Scale(e.Scale) })
			})
		case e.Crash != nil:
			w.crashAt(at, e.Crash)
		case e.Partition:
			w.clock.At(at, func() { w.governed(func(g Governed) { g.Partition(true) }) })
			w.clock.At(until, func() { w.governed(func(g Governed) { g.Partition(false) }) })
		case e.Outsiders != nil:
			w.outsidersAt(at, until, e.Outsiders)
		case e.Edit != nil:
			w.clock.At(at, func() { w.edit(e.Edit) })
		}
	}
}

// governed tells the client, if such things concern it.
func (w *World) governed(tell func(Governed)) {
	if g, ok := w.client.(Governed); ok {
		tell(g)
	}
}

func (w *World) crashAt(at time.Time, c *workload.Crash) {
	w.clock.At(at, func() {
		if c.Gateway < w.gateways {
			w.governed(func(g Governed) { g.Crash(c.Gateway) })
		}
		if again := at.Add(c.Every); c.Every > 0 && again.Before(clock.Start.Add(c.Until)) {
			w.crashAt(again, c)
		}
	})
}

func (w *World) outsidersAt(at, until time.Time, o *workload.Outsiders) {
	if !at.Before(until) {
		return
	}
	w.clock.At(at, func() {
		w.sites[o.Route].referee.Outsiders(o, outsiderEvery.Seconds(), at)
		w.outsidersAt(at.Add(outsiderEvery), until, o)
	})
}

// edit changes the policy, for what is promised and for the client. Where burst is the amount, it stays so.
func (w *World) edit(e *workload.Edit) {
	for _, s := range w.order {
		changed := false
		for i := range s.route.Limits {
			l := &s.route.Limits[i]
			if l.Name != e.Limit {
				continue
			}
			if l.Burst == l.Amount {
				l.Burst = e.Amount
			}
			l.Amount, changed = e.Amount, true
		}
		if changed {
			s.private.configure(s.route, s.cfg)
		}
	}
	w.governed(func(g Governed) { g.Edit(e.Limit, e.Amount) })
}
