// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"time"

	"github.com/headgate-dev/headgate/internal/simulate/clock"
	"github.com/headgate-dev/headgate/internal/simulate/result"
)

// finest is the least distance of two points of a curve.
const finest = 250 * time.Millisecond

// curves collects the points of a run's curves.
type curves struct {
	series []result.Series
	index  map[curve]int
	before map[curve]int
}

// curve is a curve's identity.
type curve struct {
	of         result.Of
	route, key string
}

// scheduleCurves takes points at an even pace.
func (w *World) scheduleCurves() {
	w.curves.index, w.curves.before = map[curve]int{}, map[curve]int{}
	every := max(finest, (w.wl.Duration / (result.MaxPoints - 10)).Round(time.Millisecond))
	var point func()
	point = func() {
		w.point(every)
		if next := w.Now().Add(every); !next.After(w.end) {
			w.clock.At(next, point)
		}
	}
	w.clock.At(clock.Start, point)
}

// point takes one point of every curve.
func (w *World) point(every time.Duration) {
	now := w.Now()
	t := now.Sub(clock.Start).Seconds()
	for _, s := range w.order {
		route := s.cfg.Route
		s.referee.Levels(now, func(name string, level, burst float64) {
			w.curves.add(curve{result.OfLevel, route, name}, burst, t, level)
		})
		w.curves.rate(curve{of: result.OfSends, route: route}, s.seen, t, every)
		w.curves.rate(curve{of: result.OfThrottled, route: route}, s.throttled, t, every)
		w.curves.rate(curve{of: result.OfOverloaded, route: route}, s.overloaded, t, every)
	}
	for _, s := range w.streams {
		w.curves.rate(curve{result.OfDeclined, s.Route, s.Name}, s.declined, t, every)
	}
	w.governed(func(g Governed) {
		g.Sample(func(route, lane string, waiting int) {
			w.curves.add(curve{result.OfQueue, route, lane}, 0, t, float64(waiting))
		})
	})
}

func (c *curves) add(id curve, ceiling, t, value float64) {
	i, ok := c.index[id]
	if !ok {
		i = len(c.series)
		c.index[id] = i
		c.series = append(c.series, result.Series{Of: id.of, Route: id.route, Key: id.key, Ceiling: ceiling})
	}
	s := &c.series[i]
	s.Points = append(s.Points, result.Point{Seconds: t, Value: value})
}

// rate adds the mean growth of a count since the point before, per second.
func (c *curves) rate(id curve, count int, t float64, every time.Duration) {
	c.add(id, 0, t, float64(count-c.before[id])/every.Seconds())
	c.before[id] = count
}
